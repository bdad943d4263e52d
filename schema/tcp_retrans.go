package schema

// TCPRetrans is one buffer that TCP retransmitted, of one segment or more.
type TCPRetrans struct {
	Header
	Tuple
	Cookie  int64  `col:"cookie" null:"zero"`
	Seq32   uint32 `col:"tcp_seq" unit:"sequence" doc:"first sequence number of the segment"`
	Len     int32  `col:"len_bytes" unit:"bytes" doc:"length of the packet or segment"`
	Err     int32  `col:"err" null:"ones" doc:"errno of the attempt as a negative number, 0 for success; NULL on kernels that only report successes"`
	SndCwnd int32  `col:"snd_cwnd"`
	Segs    int32  `col:"retrans_segs" unit:"segments" doc:"segments that were retransmitted, as TCP counts them: those of the buffer; of a loss probe 0 if it carried new data"`
	State   uint8  `col:"state" as:"enum tcp_state" doc:"state of the socket"`
	CaState uint8  `col:"ca_state" as:"enum ca_state"`
	Kind    uint8  `col:"retrans_kind" as:"enum retrans_kind" doc:"R: retransmission; L: tail loss probe; S: SYN-ACK; a loss probe that repeats data has a row of tcp_retrans too"`
	_       [1]uint8
}

var tcpRetrans = Event{ID: 12, Name: "tcp_retrans", Row: TCPRetrans{}, Rate: Low, Profile: Light,
	Groups: []string{"tcp"},
	Doc:    "TCP retransmitted a buffer, of one segment or more",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "tcp_retransmit_skb", Args: 3, Prog: "tcp_retrans_tp3"},
			{Kind: RawTP, Target: "tcp_retransmit_skb", Args: 3, Prog: "tcp_retrans_tp3_again", Again: true}},
		{{Kind: RawTP, Target: "tcp_retransmit_skb", Args: 2, Prog: "tcp_retrans_tp2"},
			{Kind: RawTP, Target: "tcp_retransmit_skb", Args: 2, Prog: "tcp_retrans_tp2_again", Again: true}},
		{{Kind: Fexit, Target: "__tcp_retransmit_skb", Args: 3, Prog: "tcp_retrans_fexit"}},
		{{Kind: Kprobe, Target: "__tcp_retransmit_skb", Prog: "tcp_retrans_kprobe"}},
	}}
