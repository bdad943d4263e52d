package schema

// SysWrite is one call that writes to a socket by its descriptor, when it returns. What the call
// moved is ret; sendmmsg moves messages, where ret is their number.
type SysWrite struct {
	Header
	Cookie int64 `col:"cookie" null:"zero"`
	Dur    int64 `col:"dur_ns" null:"zero"`
	Ret    int64 `col:"ret"`
	FD     int32 `col:"fd"`
	Func   uint8 `col:"func" as:"enum func"`
	_      [3]uint8
}

var sysWrite = Event{ID: 67, Name: "sys_write", Row: SysWrite{}, Rate: High, Profile: Full, Tasks: true, Thin: ByConn,
	Groups: []string{"sys"},
	Doc:    "write(2), sendto(2) or one of their kind returned, on a socket",
	Ladder: []Rung{{
		{Kind: Syscall, Target: "sys_enter_write", Prog: "sys_write_write_enter"},
		{Kind: Syscall, Target: "sys_exit_write", Prog: "sys_write_write_exit"},
		{Kind: Syscall, Target: "sys_enter_writev", Prog: "sys_write_writev_enter"},
		{Kind: Syscall, Target: "sys_exit_writev", Prog: "sys_write_writev_exit"},
		{Kind: Syscall, Target: "sys_enter_pwritev2", Prog: "sys_write_pwritev2_enter"},
		{Kind: Syscall, Target: "sys_exit_pwritev2", Prog: "sys_write_pwritev2_exit"},
		{Kind: Syscall, Target: "sys_enter_sendto", Prog: "sys_write_sendto_enter"},
		{Kind: Syscall, Target: "sys_exit_sendto", Prog: "sys_write_sendto_exit"},
		{Kind: Syscall, Target: "sys_enter_sendmsg", Prog: "sys_write_sendmsg_enter"},
		{Kind: Syscall, Target: "sys_exit_sendmsg", Prog: "sys_write_sendmsg_exit"},
		{Kind: Syscall, Target: "sys_enter_sendmmsg", Prog: "sys_write_sendmmsg_enter"},
		{Kind: Syscall, Target: "sys_exit_sendmmsg", Prog: "sys_write_sendmmsg_exit"},
	}}}
