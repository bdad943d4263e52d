package schema

// SockIO is one send or receive call on a socket of any family, when it returns.
type SockIO struct {
	Header
	Tuple
	Cookie   int64    `col:"cookie" null:"zero"`
	Socket   uint64   `col:"socket" as:"addr" null:"zero" doc:"kernel address of the struct socket"`
	Ret      int64    `col:"ret"`
	Asked    int64    `col:"asked_bytes" null:"ones" unit:"bytes" doc:"size the caller asked for; NULL where the hook cannot see it"`
	DestAddr [16]byte `col:"dest_addr" as:"ip DestFam" doc:"destination given by the caller"`
	DestPort uint16   `col:"dest_port" null:"zero" doc:"destination port given by the caller"`
	DestFam  uint16
	MsgFlags int32  `col:"msg_flags" null:"ones" doc:"flags of the call (MSG_PEEK is 2); NULL where the hook cannot see them"`
	Rmem     int32  `col:"sk_rmem_alloc" null:"ones"`
	RmemIn   int32  `col:"rmem_entry_bytes" null:"ones" unit:"bytes" doc:"memory held by the receive queue when the call began; with profile full"`
	Rcvbuf   int32  `col:"sk_rcvbuf" null:"ones" unit:"bytes" doc:"limit of the receive buffer"`
	RcvbufIn int32  `col:"rcvbuf_entry_bytes" null:"ones" unit:"bytes" doc:"limit of the receive buffer when the call began, which TCP may raise during the call; with profile full"`
	Type     uint16 `col:"sock_type" as:"enum sock_type" doc:"type of the socket"`
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	Dir      uint8  `col:"dir" as:"enum dir" doc:"send or recv"`
	_        [3]uint8
	Positions
	_    [4]uint8
	Prot [16]byte `col:"prot_name" as:"str" doc:"the kernel's name of the protocol: TCP, UDPv6, UNIX …"`
}

var sockIO = Event{ID: 20, Name: "sock_io", Row: SockIO{}, Rate: High, Profile: Default, Thin: ByConn,
	Says: SaysIO, InCall: true,
	Groups: []string{"sock"},
	Doc:    "a send or receive call on a socket returned",
	Ladder: []Rung{
		{
			{Kind: RawTP, Target: "sock_send_length", Args: 3, Prog: "sock_io_send_tp"},
			{Kind: RawTP, Target: "sock_recv_length", Args: 3, Prog: "sock_io_recv_tp"},
			{Kind: Fentry, Target: "inet_sendmsg", Args: 3, Prog: "sock_io_inet_send_in", Optional: true, Detail: true},
			{Kind: Fentry, Target: "inet6_sendmsg", Args: 3, Prog: "sock_io_inet6_send_in", Optional: true, Detail: true},
			{Kind: Fentry, Target: "inet_recvmsg", Args: 4, Prog: "sock_io_inet_recv_in", Optional: true, Detail: true},
			{Kind: Fentry, Target: "inet6_recvmsg", Args: 4, Prog: "sock_io_inet6_recv_in", Optional: true, Detail: true},
		},
		{
			{Kind: Fexit, Target: "__sock_sendmsg", Args: 2, CallSite: "sock_sendmsg", Prog: "sock_io_send_fexit"},
			{Kind: Fexit, Target: "sock_sendmsg", Args: 2, Prog: "sock_io_sendmsg_fexit"},
			{Kind: Fexit, Target: "sock_sendpage", Args: 6, Prog: "sock_io_sendpage_fexit", Optional: true},
			{Kind: Fexit, Target: "inet_recvmsg", Args: 4, Prog: "sock_io_inet_recv_fexit"},
			{Kind: Fexit, Target: "inet6_recvmsg", Args: 4, Prog: "sock_io_inet6_recv_fexit", Optional: true},
			{Kind: Fexit, Target: "sock_common_recvmsg", Args: 4, Prog: "sock_io_raw_recv_fexit", Optional: true},
			{Kind: Fexit, Target: "sock_recvmsg", Args: 3, Prog: "sock_io_other_recv_fexit"},
			{Kind: Fentry, Target: "inet_recvmsg", Args: 4, Prog: "sock_io_inet_recv_in", Optional: true, Detail: true},
			{Kind: Fentry, Target: "inet6_recvmsg", Args: 4, Prog: "sock_io_inet6_recv_in", Optional: true, Detail: true},
		},
	}}
