package schema

// SockStack is a send or receive call on a socket, when it returns, with the code that
// made it. It has what sizes are told apart by, so it needs no row of sock_io beside it.
type SockStack struct {
	Header
	Tuple
	Cookie   int64      `col:"cookie" null:"zero"`
	Ret      int64      `col:"ret"`
	MsgFlags int32      `col:"msg_flags" null:"ones"`
	Protocol uint16     `col:"protocol" as:"enum protocol"`
	Dir      uint8      `col:"dir" as:"enum dir"`
	_        [1]uint8   // keeps UStack aligned
	Prot     [16]byte   `col:"prot_name" as:"str"`
	UStack   [64]uint64 `col:"ustack" as:"ustack"`
}

// A stack costs more than all else of a call, and most questions do without.
var sockStack = Event{ID: 22, Name: "sock_stack", Row: SockStack{}, Rate: High, Profile: Asked, Thin: ByConn,
	Says: SaysIO, InCall: true, AskedBy: "--io-stacks",
	Groups: []string{"stack"},
	Doc:    "a send or receive call on a socket returned, and which code made it (--io-stacks)",
	Ladder: []Rung{
		{
			{Kind: RawTP, Target: "sock_send_length", Args: 3, Prog: "sock_stack_send_tp"},
			{Kind: RawTP, Target: "sock_recv_length", Args: 3, Prog: "sock_stack_recv_tp"},
		},
		{
			{Kind: Fexit, Target: "__sock_sendmsg", Args: 2, CallSite: "sock_sendmsg", Prog: "sock_stack_send_fexit"},
			{Kind: Fexit, Target: "sock_sendmsg", Args: 2, Prog: "sock_stack_sendmsg_fexit"},
			{Kind: Fexit, Target: "sock_sendpage", Args: 6, Prog: "sock_stack_sendpage_fexit", Optional: true},
			{Kind: Fexit, Target: "inet_recvmsg", Args: 4, Prog: "sock_stack_inet_recv_fexit"},
			{Kind: Fexit, Target: "inet6_recvmsg", Args: 4, Prog: "sock_stack_inet6_recv_fexit", Optional: true},
			{Kind: Fexit, Target: "sock_common_recvmsg", Args: 4, Prog: "sock_stack_raw_recv_fexit", Optional: true},
			{Kind: Fexit, Target: "sock_recvmsg", Args: 3, Prog: "sock_stack_other_recv_fexit"},
		},
	}}
