package schema

// IPECN is a packet that carries the mark for congestion (CE) past one place of the
// device layer: in its outermost IP header, or in the one inside that if it is a tunnel's.
// A packet that a queue marks is first seen behind it.
type IPECN struct {
	Header
	Saddr    [16]byte `col:"saddr" as:"ip Family"`
	Daddr    [16]byte `col:"daddr" as:"ip Family"`
	Sport    uint16   `col:"sport" null:"zero"`
	Dport    uint16   `col:"dport" null:"zero"`
	Family   uint16   `col:"family" as:"enum family"`
	Protocol uint16   `col:"protocol" as:"enum protocol" null:"ones"`
	Len      int32    `col:"len_bytes"`
	Ifindex  int32    `col:"ifindex" doc:"index of the network device, unique in its namespace"`
	TOS      uint8    `col:"tos" doc:"traffic class byte of the packet's outermost header: its lowest two bits are the ECN field, 3 is CE"`
	Dir      uint8    `col:"dir" as:"enum dir"`
	Stage    uint8    `col:"stage" as:"enum stage" doc:"where the packet was seen: received from a device, queued before the queueing discipline, started by the device after it"`
	_        [5]uint8
	Dev      [16]byte `col:"dev" as:"str" doc:"name of the network device at that moment"`

	InnerSaddr    [16]byte `col:"inner_saddr" as:"ip InnerFamily" doc:"source address in the IP header that a tunnel's packet carries; NULL, as all of these, if it is no tunnel's or the header is not where it can be read"`
	InnerDaddr    [16]byte `col:"inner_daddr" as:"ip InnerFamily" doc:"destination address in the header that a tunnel's packet carries"`
	InnerSport    uint16   `col:"inner_sport" null:"zero" doc:"source port behind the header that a tunnel's packet carries"`
	InnerDport    uint16   `col:"inner_dport" null:"zero" doc:"destination port behind the header that a tunnel's packet carries"`
	InnerFamily   uint16   `col:"inner_family" as:"enum family" null:"zero" doc:"address family of the header that a tunnel's packet carries"`
	InnerProtocol uint16   `col:"inner_protocol" as:"enum protocol" null:"ones" doc:"IP protocol of the packet that a tunnel's packet carries"`
	InnerTOS      uint16   `col:"inner_tos" null:"ones" doc:"traffic class byte of the header that a tunnel's packet carries"`
	_             [6]uint8
}

// ICMPEcho is an echo request or reply, coming in or going out. Of fragments only the
// first is seen; behind IPv6 extension headers other than that of fragments, none.
type ICMPEcho struct {
	Header
	Saddr   [16]byte `col:"saddr" as:"ip Family"`
	Daddr   [16]byte `col:"daddr" as:"ip Family"`
	Family  uint16   `col:"family" as:"enum family"`
	ID      uint16   `col:"icmp_id" doc:"identifier of the echo"`
	Number  uint16   `col:"icmp_seq" doc:"sequence number of the echo"`
	Type    uint8    `col:"icmp_type" doc:"request: 8 in IPv4, 128 in IPv6; reply: 0 and 129"`
	Dir     uint8    `col:"dir" as:"enum dir"`
	Len     int32    `col:"len_bytes"`
	Ifindex int32    `col:"ifindex"`
	Dev     [16]byte `col:"dev" as:"str"`
}

// Rows are few, but every packet is looked at, which costs as much as sock_io: docs/cost.md.
var (
	ipECN = Event{ID: 92, Name: "ip_ecn", Row: IPECN{}, Rate: Low, Profile: Default,
		Groups: []string{"ip"},
		Doc:    "a packet marked for congestion, or one inside it, passed a device",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "netif_receive_skb", Args: 1, Prog: "ip_ecn_recv_tp", Joint: true},
				{Kind: RawTP, Target: "net_dev_queue", Args: 1, Prog: "ip_ecn_queue_tp", Joint: true},
				{Kind: RawTP, Target: "net_dev_start_xmit", Args: 2, Prog: "ip_ecn_xmit_tp", Joint: true}},
		}}
	icmpEcho = Event{ID: 93, Name: "icmp_echo", Row: ICMPEcho{}, Rate: Low, Profile: Default,
		Groups: []string{"ip"},
		Doc:    "an ICMP echo request or reply came in or went out",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "netif_receive_skb", Args: 1, Prog: "icmp_echo_recv_tp", Joint: true},
				{Kind: RawTP, Target: "net_dev_queue", Args: 1, Prog: "icmp_echo_send_tp", Joint: true}},
		}}
)
