package schema

// FdDup is a further descriptor for a socket, made by the process itself or received in a
// message, where fd is NULL, or a new process that has all of its parent's.
type FdDup struct {
	Header
	Cookie int64 `col:"cookie" null:"zero"`
	FD     int32 `col:"fd" null:"ones"`
	FDNew  int32 `col:"fd_new" null:"ones" doc:"the further descriptor"`
	Child  int32 `col:"child_pid" null:"zero" doc:"the new process"`
	Shared uint8 `col:"fds_shared" null:"ones" doc:"1 if the new process shares the table of descriptors, 0 if it has a copy"`
	Func   uint8 `col:"func" as:"enum func"`
	_      [2]uint8
}

// dupCalls are the hooks for what a process asks for itself.
var dupCalls = Rung{
	{Kind: Syscall, Target: "sys_enter_dup", Prog: "fd_dup_dup_enter"},
	{Kind: Syscall, Target: "sys_exit_dup", Prog: "fd_dup_dup_exit"},
	{Kind: Syscall, Target: "sys_enter_dup2", Prog: "fd_dup_dup2_enter", Optional: true}, // not on arm64
	{Kind: Syscall, Target: "sys_exit_dup2", Prog: "fd_dup_dup2_exit", Optional: true},
	{Kind: Syscall, Target: "sys_enter_dup3", Prog: "fd_dup_dup3_enter"},
	{Kind: Syscall, Target: "sys_exit_dup3", Prog: "fd_dup_dup3_exit"},
	{Kind: Syscall, Target: "sys_enter_fcntl", Prog: "fd_dup_fcntl_enter"},
	{Kind: Syscall, Target: "sys_exit_fcntl", Prog: "fd_dup_fcntl_exit"},
	{Kind: RawTP, Target: "sched_process_fork", Args: 2, Prog: "fd_dup_fork_tp"},
}

// Descriptors that come in messages are seen where the kernel hands them out; where
// functions cannot be hooked, when recvmsg(2) returns, which misses recvmmsg(2) and io_uring.
var fdDup = Event{ID: 65, Name: "fd_dup", Row: FdDup{}, Rate: Low, Profile: Default, Tasks: true,
	Descriptor: CopiesDescriptor,
	Groups:     []string{"sys"},
	Doc:        "a socket got a further descriptor, by dup(2) and its kind or in a message, or a process all of its parent's by fork",
	Ladder: []Rung{
		append(Rung{
			{Kind: Fentry, Target: "scm_detach_fds", Prog: "fd_dup_scm_fentry"},
			{Kind: Fexit, Target: "scm_detach_fds", Prog: "fd_dup_scm_fexit"}}, dupCalls...),
		append(Rung{{Kind: Syscall, Target: "sys_exit_recvmsg", Prog: "fd_dup_recvmsg_exit"}}, dupCalls...),
	}}
