package schema

// SysSocket is one socket(2) or socketpair(2), when it returns. Family, type and
// protocol are the caller's wish; a failed call has no socket.
type SysSocket struct {
	Header
	Dur      int64  `col:"dur_ns"`
	Ret      int64  `col:"ret"`
	PeerSock uint64 `col:"peer_sock" as:"addr" null:"zero" doc:"kernel address of the struct sock at the other end, on this host"`
	FD       int32  `col:"fd" null:"ones"`
	FD2      int32  `col:"fd2" null:"ones" doc:"second descriptor that the call made"`
	Flags    int32  `col:"flags"`
	Family   uint16 `col:"family" as:"enum family"`
	Type     uint16 `col:"sock_type" as:"enum sock_type"`
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	Func     uint8  `col:"func" as:"enum func"`
	_        [5]uint8
}

var sysSocket = Event{ID: 62, Name: "sys_socket", Row: SysSocket{}, Rate: Low, Profile: Default, Tasks: true,
	Says: SaysMade, Descriptor: OpensDescriptor, Identity: Helps,
	Groups: []string{"sys"},
	Doc:    "socket(2) or socketpair(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_socket", Prog: "sys_socket_enter"},
			{Kind: Syscall, Target: "sys_exit_socket", Prog: "sys_socket_exit"},
			{Kind: Syscall, Target: "sys_enter_socketpair", Prog: "sys_socketpair_enter"},
			{Kind: Syscall, Target: "sys_exit_socketpair", Prog: "sys_socketpair_exit"}},
	}}
