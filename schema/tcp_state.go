package schema

// TCPState is a change of an inet socket's state.
type TCPState struct {
	Header
	Tuple
	Cookie        int64  `col:"cookie" null:"zero" doc:"socket cookie, where the kernel has made one"`
	BytesAcked    int64  `col:"bytes_acked" null:"ones" with:"closed" unit:"bytes" doc:"bytes the peer has acknowledged, as the kernel counts: the SYN of a connect is one, and so is a FIN; on changes to CLOSE"`
	BytesReceived int64  `col:"bytes_received" null:"ones" with:"closed" unit:"bytes" doc:"bytes received in order; a FIN is one; on changes to CLOSE"`
	SegsIn        int64  `col:"segs_in" null:"ones" with:"closed" unit:"segments" doc:"segments received; on changes to CLOSE"`
	SegsOut       int64  `col:"segs_out" null:"ones" with:"closed" unit:"segments" doc:"segments sent; on changes to CLOSE"`
	TotalRetrans  int64  `col:"total_retrans" null:"ones" with:"closed" unit:"segments" doc:"segments retransmitted over the whole life; on changes to CLOSE"`
	SRTT          int32  `col:"srtt_us" null:"ones" with:"closed" unit:"us" doc:"smoothed round trip time"`
	SkErr         int32  `col:"sk_err" doc:"pending error of the socket, as errno; 0 if none"`
	Protocol      uint16 `col:"protocol" as:"enum protocol" doc:"IP protocol of the socket or packet"`
	OldState      uint8  `col:"old_state" as:"enum tcp_state" doc:"state before the change"`
	NewState      uint8  `col:"new_state" as:"enum tcp_state" doc:"state after the change"`
	UID           uint32 `col:"uid" null:"ones" doc:"user that the process on the CPU runs as, by the host's numbers; of changes of state only on those to SYN_SENT"`
	Positions
	SndNxt        uint32 `col:"snd_nxt" null:"ones" with:"established"`
	RcvNxt        uint32 `col:"rcv_nxt" null:"ones" with:"established" unit:"sequence" doc:"next sequence number expected from the peer; on changes to ESTABLISHED"`
	Busy          int32  `col:"busy_us" null:"ones" with:"closed" unit:"us" doc:"time in which data waited to be sent or acknowledged, as the kernel counts, in ticks; on changes to CLOSE"`
	RwndLimited   int32  `col:"rwnd_limited_us" null:"ones" with:"closed" unit:"us" doc:"part of busy_us in which the peer's window held data back; on changes to CLOSE"`
	SndbufLimited int32  `col:"sndbuf_limited_us" null:"ones" with:"closed" unit:"us" doc:"part of busy_us in which the send buffer was full and all of it in flight; on changes to CLOSE"`
	Delivered     int32  `col:"delivered" null:"ones" with:"closed" unit:"segments" doc:"segments that reached the peer; on changes to CLOSE"`
	Reordering    int32  `col:"reordering" null:"ones" with:"closed" unit:"segments" doc:"how far segments overtake each other, as TCP assumes; on changes to CLOSE"`
	TCPFlags      uint8  `col:"tcp_flags" null:"zero" doc:"flag byte of the TCP header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32; of changes to CLOSE FIN if the peer's has come"`
	_             [7]uint8
}

var tcpState = Event{ID: 10, Name: "tcp_state", Row: TCPState{}, Rate: Low, Profile: Light,
	Says: SaysState, Identity: Identifies,
	Groups: []string{"tcp"},
	Doc:    "a TCP socket changed its state",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "inet_sock_set_state", Prog: "tcp_state_tp"},
			{Kind: RawTP, Target: "inet_sock_set_state", Prog: "tcp_state_tp_again", Again: true}},
		{{Kind: Fentry, Target: "tcp_set_state", Prog: "tcp_state_fentry"}},
		{{Kind: Kprobe, Target: "tcp_set_state", Prog: "tcp_state_kprobe"}},
	}}
