package schema

// SysListen is one listen(2), when it returns. The kernel cuts the backlog to
// net.core.somaxconn; both the wish and what became of it are kept.
type SysListen struct {
	Header
	Tuple
	Cookie        int64  `col:"cookie" null:"zero"`
	Dur           int64  `col:"dur_ns"`
	Ret           int64  `col:"ret"`
	Backlog       int32  `col:"backlog" unit:"connections" doc:"length of the accept queue that the caller asked for"`
	MaxAckBacklog uint32 `col:"sk_max_ack_backlog" unit:"connections" doc:"length of the accept queue that the socket has"`
	FD            int32  `col:"fd"`
	Type          uint16 `col:"sock_type" as:"enum sock_type"`
	Protocol      uint16 `col:"protocol" as:"enum protocol"`
}

var sysListen = Event{ID: 61, Name: "sys_listen", Row: SysListen{}, Rate: Low, Profile: Light, Tasks: true,
	Groups: []string{"sys"},
	Doc:    "listen(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_listen", Prog: "sys_listen_enter"},
			{Kind: Syscall, Target: "sys_exit_listen", Prog: "sys_listen_exit"}},
	}}
