package schema

// TCPReset is a RST that was sent, or one that was received and ended a connection.
// A reset that answers a packet for which there is no socket has none either; its
// addresses are then those of the packet, seen from here, and so are those of a listener's.
type TCPReset struct {
	Header
	Tuple
	Cookie int64 `col:"cookie" null:"zero"`
	Reason int32 `col:"rst_reason" as:"enum rst_reason" null:"ones" doc:"why a reset was sent, in the recording kernel's own words; NULL before 6.10 and for received ones"`
	State  uint8 `col:"state" as:"enum tcp_state" null:"zero"`
	Dir    uint8 `col:"dir" as:"enum dir"`
	_      [2]uint8
}

var tcpReset = Event{ID: 81, Name: "tcp_reset", Row: TCPReset{}, Rate: Low, Profile: Light,
	Groups: []string{"tcp"},
	Doc:    "a TCP connection was reset, by this end or by the other",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "tcp_send_reset", Args: 3, Prog: "tcp_reset_sent_tp3"},
			{Kind: RawTP, Target: "tcp_send_reset", Args: 3, Prog: "tcp_reset_sent_tp3_again", Again: true},
			{Kind: RawTP, Target: "tcp_receive_reset", Args: 1, Prog: "tcp_reset_received_tp"},
			{Kind: RawTP, Target: "tcp_receive_reset", Args: 1, Prog: "tcp_reset_received_tp_again", Again: true}},
		{{Kind: RawTP, Target: "tcp_send_reset", Args: 2, Prog: "tcp_reset_sent_tp2"},
			{Kind: RawTP, Target: "tcp_send_reset", Args: 2, Prog: "tcp_reset_sent_tp2_again", Again: true},
			{Kind: Fentry, Target: "tcp_v4_send_reset", Args: 2, Prog: "tcp_reset_nobody4", Optional: true},
			{Kind: Fentry, Target: "tcp_v6_send_reset", Args: 2, Prog: "tcp_reset_nobody6", Optional: true},
			{Kind: RawTP, Target: "tcp_receive_reset", Args: 1, Prog: "tcp_reset_received_tp"},
			{Kind: RawTP, Target: "tcp_receive_reset", Args: 1, Prog: "tcp_reset_received_tp_again", Again: true}},
	}}
