package schema

// QdiscEnq is a packet that a queueing discipline is given.
type QdiscEnq struct {
	Header
	Qdisc   uint64   `col:"qdisc" as:"addr" doc:"kernel address of the struct Qdisc; reused after free"`
	Kind    [16]byte `col:"qdisc_kind" as:"str" doc:"kind of the queueing discipline: fq, htb, netem …"`
	Dev     [16]byte `col:"dev" as:"str"`
	Handle  uint32   `col:"qdisc_handle" doc:"handle of the discipline, the major number in the upper 16 bits"`
	Parent  uint32   `col:"qdisc_parent" doc:"class to which the discipline is attached; 4294967295 is the root"`
	Qlen    int32    `col:"qlen" unit:"packets" doc:"packets in the queue; disciplines without a lock (pfifo_fast) keep it elsewhere and have 0"`
	Backlog int32    `col:"backlog_bytes" unit:"bytes" doc:"bytes in the queue; 0 as for qlen"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	Taken   uint8    `col:"taken" null:"ones" doc:"1 if the row was made after the discipline took the packet; NULL if before, when that is open"`
	_       [7]uint8 // multiple of eight
}

// QdiscDeq is packets that left a queueing discipline for the device.
type QdiscDeq struct {
	Header
	Qdisc   uint64   `col:"qdisc" as:"addr"`
	Kind    [16]byte `col:"qdisc_kind" as:"str"`
	Dev     [16]byte `col:"dev" as:"str"`
	Handle  uint32   `col:"qdisc_handle"`
	Parent  uint32   `col:"qdisc_parent"`
	Qlen    int32    `col:"qlen"`
	Backlog int32    `col:"backlog_bytes"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	Packets int32    `col:"packets" unit:"packets" doc:"how many packets left together; skb is the first"`
	_       [4]uint8 // multiple of eight
}

// QdiscDrop is a packet that a queueing discipline threw away.
type QdiscDrop struct {
	Header
	Qdisc   uint64   `col:"qdisc" as:"addr"`
	Kind    [16]byte `col:"qdisc_kind" as:"str"`
	Dev     [16]byte `col:"dev" as:"str"`
	Handle  uint32   `col:"qdisc_handle"`
	Parent  uint32   `col:"qdisc_parent"`
	Qlen    int32    `col:"qlen"`
	Backlog int32    `col:"backlog_bytes"`
	Ifindex int32    `col:"ifindex"`
	Len     int32    `col:"len_bytes"`
	Reason  int32    `col:"qdisc_drop_reason" as:"enum qdisc_drop_reason" doc:"why, in the recording kernel's own words"`
	_       [4]uint8 // multiple of eight
}

var (
	// The tracepoints see the root disciplines of all kinds, once they took a packet; the
	// functions see inner ones too, and a packet also if it is then refused. Both are
	// attached, and the tracepoint is silent about kinds whose function is. The fifos'
	// dequeue function cannot be hooked, so that of inner ones only what goes in is seen.
	qdiscEnq = Event{ID: 110, Name: "qdisc_enq", Row: QdiscEnq{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"qdisc"},
		Doc:    "a queueing discipline was given a packet; not where the kernel passes an empty queue by",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "qdisc_enqueue", Args: 3, Prog: "qdisc_enq_tp"},
				{Kind: Fentry, Target: "Qdisc_ops:enqueue", Prog: "qdisc_enq_fentry", Optional: true}},
			{{Kind: Kprobe, Target: "Qdisc_ops:enqueue", Prog: "qdisc_enq_kprobe"}},
		}}
	qdiscDeq = Event{ID: 111, Name: "qdisc_deq", Row: QdiscDeq{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"qdisc"},
		Doc:    "packets left a queueing discipline",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "qdisc_dequeue", Args: 4, Prog: "qdisc_deq_tp"},
				{Kind: Fexit, Target: "Qdisc_ops:dequeue", Prog: "qdisc_deq_fexit", Optional: true},
				{Kind: Kprobe, Target: "Qdisc_ops:dequeue", Prog: "qdisc_deq_kprobe", Optional: true},
				{Kind: Kretprobe, Target: "Qdisc_ops:dequeue", Prog: "qdisc_deq_kretprobe", Optional: true}},
		}}
	qdiscDrop = Event{ID: 112, Name: "qdisc_drop", Row: QdiscDrop{}, Rate: Medium, Profile: Default,
		Groups: []string{"qdisc"},
		Doc:    "a queueing discipline dropped a packet; kernels before 7.2 have it as skb_drop only",
		Ladder: []Rung{{{Kind: RawTP, Target: "qdisc_drop", Args: 5, Prog: "qdisc_drop_tp"}}}}
)
