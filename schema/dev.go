package schema

// DevQueue is a packet on its way into the queues of a device.
type DevQueue struct {
	Header
	Dev     [16]byte `col:"dev" as:"str" doc:"name of the network device at that moment"`
	Ifindex int32    `col:"ifindex" doc:"index of the network device, unique in its namespace"`
	Len     int32    `col:"len_bytes"`
	GSOSize uint16   `col:"gso_size" null:"zero" unit:"bytes" doc:"payload of each segment that the packet stands for; NULL if it is a single one"`
	GSOSegs uint16   `col:"gso_segs" null:"zero" unit:"segments" doc:"how many segments the packet stands for; NULL if a single one or not said"`
	Proto   uint16   `col:"ethertype" as:"enum ethertype"`
	_       [2]uint8
}

// DevStartXmit is a packet handed to the driver of a device.
type DevStartXmit struct {
	Header
	Dev     [16]byte `col:"dev" as:"str"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	DataLen int32    `col:"data_len_bytes" unit:"bytes" doc:"part of the packet that is in fragments"`
	GSOSize uint16   `col:"gso_size" null:"zero"`
	GSOSegs uint16   `col:"gso_segs" null:"zero"`
	Queue   uint16   `col:"queue" null:"ones" doc:"queue of the device, counted from 0; NULL if none is noted in the packet"`
	Proto   uint16   `col:"ethertype" as:"enum ethertype"`
	_       [4]uint8
}

// DevXmit is the driver's answer. The packet may be gone by then, so only its address
// and what the caller remembered of it are known.
type DevXmit struct {
	Header
	Dev     [16]byte   `col:"dev" as:"str"`
	Ifindex int32      `col:"ifindex"`
	Len     int32      `col:"len_bytes"`
	RC      int32      `col:"rc" doc:"the driver's answer: 0 taken, 16 busy, 1 or 2 dropped, else a negative errno"`
	_       [4]uint8   // keeps KStack aligned
	KStack  [32]uint64 `col:"kstack" as:"kstack"`
}

// DevGROIn is a packet as a driver delivers it, before GRO merges it with others.
type DevGROIn struct {
	Header
	Dev     [16]byte `col:"dev" as:"str"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	GSOSize uint16   `col:"gso_size" null:"zero"`
	GSOSegs uint16   `col:"gso_segs" null:"zero"`
	Queue   uint16   `col:"queue" null:"ones"`
	Proto   uint16   `col:"ethertype" as:"enum ethertype"`
}

// DevRecv is a packet as the network stack gets it from a device, after GRO.
type DevRecv struct {
	Header
	Dev     [16]byte `col:"dev" as:"str"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	GSOSize uint16   `col:"gso_size" null:"zero"`
	GSOSegs uint16   `col:"gso_segs" null:"zero"`
	Proto   uint16   `col:"ethertype" as:"enum ethertype"`
	_       [2]uint8
}

var (
	devQueue = Event{ID: 100, Name: "dev_queue", Row: DevQueue{}, Rate: High, Profile: Default, Thin: ByPacket,
		Groups: []string{"dev"},
		Doc:    "a packet was given to a network device for sending",
		Ladder: []Rung{{{Kind: RawTP, Target: "net_dev_queue", Args: 1, Prog: "dev_queue_tp", Joint: true}}}}
	devStartXmit = Event{ID: 101, Name: "dev_start_xmit", Row: DevStartXmit{}, Rate: High, Profile: Default, Thin: ByPacket,
		Groups: []string{"dev"},
		Doc:    "a packet was handed to the driver of a network device",
		Ladder: []Rung{{{Kind: RawTP, Target: "net_dev_start_xmit", Args: 2, Prog: "dev_start_xmit_tp", Joint: true}}}}
	devXmit = Event{ID: 102, Name: "dev_xmit", Row: DevXmit{}, Rate: High, Profile: Default, Thin: ByPacket,
		Groups: []string{"dev"},
		Doc:    "the driver of a network device took or refused a packet",
		Ladder: []Rung{{{Kind: RawTP, Target: "net_dev_xmit", Args: 4, Prog: "dev_xmit_tp"}}}}
	devGROIn = Event{ID: 103, Name: "dev_gro_in", Row: DevGROIn{}, Rate: High, Profile: Default, Thin: ByPacket,
		Groups: []string{"dev"},
		Doc:    "a driver delivered a received packet, before GRO; only drivers that use GRO",
		Ladder: []Rung{{{Kind: RawTP, Target: "napi_gro_receive_entry", Args: 1, Prog: "dev_gro_in_tp"},
			{Kind: RawTP, Target: "napi_gro_frags_entry", Args: 1, Prog: "dev_gro_in_frags_tp"}}}}
	devRecv = Event{ID: 104, Name: "dev_recv", Row: DevRecv{}, Rate: High, Profile: Default, Thin: ByPacket,
		Groups: []string{"dev"},
		Doc:    "the network stack took a received packet from a device, after GRO",
		Ladder: []Rung{{{Kind: RawTP, Target: "netif_receive_skb", Args: 1, Prog: "dev_recv_tp", Joint: true}}}}
)
