package schema

// UDPConnect is a connect of a datagram socket of IP, when the kernel's function returns.
type UDPConnect struct {
	Header
	Tuple
	Cookie   int64    `col:"cookie" null:"zero"`
	Ret      int64    `col:"ret"`
	DestAddr [16]byte `col:"dest_addr" as:"ip DestFam"`
	DestPort uint16   `col:"dest_port" null:"zero"`
	DestFam  uint16
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	_        [2]uint8
}

// UDPMsg is one send or receive inside UDP, when it returns. What an unconnected socket
// sent to is in dest_addr, whom it received from in peer_addr.
type UDPMsg struct {
	Header
	Tuple
	Cookie   int64    `col:"cookie" null:"zero"`
	Asked    int64    `col:"asked_bytes" null:"ones"`
	Ret      int64    `col:"ret"`
	DestAddr [16]byte `col:"dest_addr" as:"ip DestFam"`
	PeerAddr [16]byte `col:"peer_addr" as:"ip PeerFam"`
	DestPort uint16   `col:"dest_port" null:"zero"`
	DestFam  uint16
	PeerPort uint16 `col:"peer_port" null:"zero"`
	PeerFam  uint16
	MsgFlags int32 `col:"msg_flags" null:"ones"`
	Func     uint8 `col:"func" as:"enum func"`
	Dir      uint8 `col:"dir" as:"enum dir"`
	_        [2]uint8
}

// UDPGone is the end of a UDP socket.
type UDPGone struct {
	Header
	Tuple
	Cookie int64 `col:"cookie" null:"zero"`
}

var (
	udpConnect = Event{ID: 89, Name: "udp_connect", Row: UDPConnect{}, Rate: Low, Profile: Default,
		Says: SaysPeer, InCall: true,
		Groups: []string{"udp"},
		Doc:    "a datagram socket was connected",
		Ladder: []Rung{
			{{Kind: Fexit, Target: "__ip4_datagram_connect", Args: 3, Prog: "udp_connect4_fexit"},
				{Kind: Fexit, Target: "__ip6_datagram_connect", Args: 3, Prog: "udp_connect6_fexit", Optional: true}},
		}}
	udpMsg = Event{ID: 90, Name: "udp_msg", Row: UDPMsg{}, Rate: High, Profile: Full, Thin: ByConn,
		Says: SaysIO, InCall: true,
		Groups: []string{"udp"},
		Doc:    "a send or receive function of UDP returned",
		Ladder: []Rung{udpMsgRung(4), udpMsgRung(5), udpMsgRung(6)}}
	udpGone = Event{ID: 91, Name: "udp_gone", Row: UDPGone{}, Rate: Low, Profile: Default,
		Says: SaysGone, Descriptor: EndsFile, Identity: Helps,
		Groups: []string{"udp"},
		Doc:    "a UDP socket came to its end",
		Ladder: []Rung{
			{{Kind: Fentry, Target: "udp_destroy_sock", Args: 1, Prog: "udp_gone4_fentry"},
				{Kind: Fentry, Target: "udpv6_destroy_sock", Args: 1, Prog: "udp_gone6_fentry", Optional: true}},
			{{Kind: Kprobe, Target: "udp_destroy_sock", Prog: "udp_gone4_kprobe"},
				{Kind: Kprobe, Target: "udpv6_destroy_sock", Prog: "udp_gone6_kprobe", Optional: true}},
		}}
)

// udpMsgRung is for kernels whose receive functions have that many arguments; where
// the result is depends on it.
func udpMsgRung(args int) Rung {
	n := string(rune('0' + args))
	return Rung{
		{Kind: Fexit, Target: "udp_sendmsg", Args: 3, Prog: "udp_msg_send4_fexit"},
		{Kind: Fexit, Target: "udp_recvmsg", Args: args, Prog: "udp_msg_recv4_fexit" + n},
		{Kind: Fexit, Target: "udpv6_sendmsg", Args: 3, Prog: "udp_msg_send6_fexit", Optional: true},
		{Kind: Fexit, Target: "udpv6_recvmsg", Args: args, Prog: "udp_msg_recv6_fexit" + n, Optional: true},
	}
}
