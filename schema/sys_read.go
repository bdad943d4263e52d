package schema

// SysRead is one call that reads from a socket by its descriptor, when it returns. What the call
// moved is ret; recvmmsg moves messages, where ret is their number.
type SysRead struct {
	Header
	Cookie int64 `col:"cookie" null:"zero"`
	Dur    int64 `col:"dur_ns" null:"zero"`
	Ret    int64 `col:"ret"`
	FD     int32 `col:"fd"`
	Func   uint8 `col:"func" as:"enum func"`
	_      [3]uint8
}

var sysRead = Event{ID: 66, Name: "sys_read", Row: SysRead{}, Rate: High, Profile: Full, Tasks: true, Thin: ByConn,
	Groups: []string{"sys"},
	Doc:    "read(2), recvfrom(2) or one of their kind returned, on a socket",
	Ladder: []Rung{{
		{Kind: Syscall, Target: "sys_enter_read", Prog: "sys_read_read_enter"},
		{Kind: Syscall, Target: "sys_exit_read", Prog: "sys_read_read_exit"},
		{Kind: Syscall, Target: "sys_enter_readv", Prog: "sys_read_readv_enter"},
		{Kind: Syscall, Target: "sys_exit_readv", Prog: "sys_read_readv_exit"},
		{Kind: Syscall, Target: "sys_enter_pread64", Prog: "sys_read_pread64_enter"},
		{Kind: Syscall, Target: "sys_exit_pread64", Prog: "sys_read_pread64_exit"},
		{Kind: Syscall, Target: "sys_enter_preadv", Prog: "sys_read_preadv_enter"},
		{Kind: Syscall, Target: "sys_exit_preadv", Prog: "sys_read_preadv_exit"},
		{Kind: Syscall, Target: "sys_enter_preadv2", Prog: "sys_read_preadv2_enter"},
		{Kind: Syscall, Target: "sys_exit_preadv2", Prog: "sys_read_preadv2_exit"},
		{Kind: Syscall, Target: "sys_enter_recvfrom", Prog: "sys_read_recvfrom_enter"},
		{Kind: Syscall, Target: "sys_exit_recvfrom", Prog: "sys_read_recvfrom_exit"},
		{Kind: Syscall, Target: "sys_enter_recvmsg", Prog: "sys_read_recvmsg_enter"},
		{Kind: Syscall, Target: "sys_exit_recvmsg", Prog: "sys_read_recvmsg_exit"},
		{Kind: Syscall, Target: "sys_enter_recvmmsg", Prog: "sys_read_recvmmsg_enter"},
		{Kind: Syscall, Target: "sys_exit_recvmmsg", Prog: "sys_read_recvmmsg_exit"},
	}}}
