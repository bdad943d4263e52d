package schema

// SysClose is a close(2) of a socket's descriptor, a close_range(2), or a close that
// no call asks for: dup2(2) and dup3(2) onto a socket's descriptor, where ret is that
// of the dup, exec, which closes the descriptors that are marked for it, one row for each
// socket's, and the end of a process, which closes every descriptor.
type SysClose struct {
	Header
	Tuple
	Cookie int64 `col:"cookie" null:"zero"`
	Dur    int64 `col:"dur_ns"`
	Ret    int64 `col:"ret"`
	FD     int32 `col:"fd"`
	FDLast int32 `col:"fd_last" doc:"last descriptor of the range; the same as fd for close"`
	Func   uint8 `col:"func" as:"enum func"`
	_      [7]uint8
}

// closeCalls are the hooks that every kernel has.
var closeCalls = Rung{
	{Kind: Syscall, Target: "sys_enter_close", Prog: "sys_close_enter"},
	{Kind: Syscall, Target: "sys_exit_close", Prog: "sys_close_exit"},
	{Kind: Syscall, Target: "sys_enter_close_range", Prog: "sys_close_range_enter", Optional: true},
	{Kind: Syscall, Target: "sys_exit_close_range", Prog: "sys_close_range_exit", Optional: true},
	{Kind: Syscall, Target: "sys_enter_dup2", Prog: "sys_close_dup2_enter", Optional: true},
	{Kind: Syscall, Target: "sys_exit_dup2", Prog: "sys_close_dup2_exit", Optional: true},
	{Kind: Syscall, Target: "sys_enter_dup3", Prog: "sys_close_dup3_enter", Optional: true},
	{Kind: Syscall, Target: "sys_exit_dup3", Prog: "sys_close_dup3_exit", Optional: true},
	{Kind: RawTP, Target: "sched_process_exit", Args: 2, Prog: "sys_close_exit_tp2", Optional: true}, // 6.16
	{Kind: RawTP, Target: "sched_process_exit", Args: 1, Prog: "sys_close_exit_tp", Optional: true},
}

// What exec closes is seen where it is decided; the last rung does without.
var sysClose = Event{ID: 32, Name: "sys_close", Row: SysClose{}, Rate: Medium, Profile: Default, Tasks: true,
	Says: SaysClose, Descriptor: ClosesDescriptor, Identity: Identifies,
	Groups: []string{"sys"},
	Doc:    "close(2) of a socket's descriptor or close_range(2) returned, or dup2(2), dup3(2), exec or the end of a process closed implicitly",
	Ladder: []Rung{
		append(Rung{{Kind: RawTP, Target: "sched_prepare_exec", Args: 2, Prog: "sys_close_exec_tp"}}, closeCalls...), // 6.10
		append(Rung{{Kind: Fentry, Target: "do_close_on_exec", Args: 1, Prog: "sys_close_exec_fentry"}}, closeCalls...),
		closeCalls,
	}}
