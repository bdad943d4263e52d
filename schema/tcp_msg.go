package schema

// TCPMsg is one send or receive inside TCP, when it returns.
type TCPMsg struct {
	Header
	Tuple
	Cookie   int64 `col:"cookie" null:"zero"`
	Asked    int64 `col:"asked_bytes" null:"ones"`
	Ret      int64 `col:"ret"`
	MsgFlags int32 `col:"msg_flags" null:"ones"`
	Func     uint8 `col:"func" as:"enum func"`
	Dir      uint8 `col:"dir" as:"enum dir"`
	_        [2]uint8
}

var tcpMsg = Event{ID: 88, Name: "tcp_msg", Row: TCPMsg{}, Rate: High, Profile: Full, Thin: ByConn,
	Says: SaysIO, InCall: true,
	Groups: []string{"tcp"},
	Doc:    "tcp_sendmsg or tcp_recvmsg returned",
	Ladder: []Rung{
		{{Kind: Fexit, Target: "tcp_sendmsg", Args: 3, Prog: "tcp_msg_send_fexit"},
			{Kind: Fexit, Target: "tcp_recvmsg", Args: 4, Prog: "tcp_msg_recv_fexit4"}},
		{{Kind: Fexit, Target: "tcp_sendmsg", Args: 3, Prog: "tcp_msg_send_fexit"},
			{Kind: Fexit, Target: "tcp_recvmsg", Args: 5, Prog: "tcp_msg_recv_fexit5"}},
		{{Kind: Fexit, Target: "tcp_sendmsg", Args: 3, Prog: "tcp_msg_send_fexit"},
			{Kind: Fexit, Target: "tcp_recvmsg", Args: 6, Prog: "tcp_msg_recv_fexit6"}},
	}}
