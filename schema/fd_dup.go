package schema

// FdDup is a further descriptor for a socket, or a new process that has all of its
// parent's.
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

var fdDup = Event{ID: 65, Name: "fd_dup", Row: FdDup{}, Rate: Low, Profile: Default,
	Groups: []string{"sys"},
	Doc:    "a socket got a further descriptor by dup(2) and its kind, or a process all of its parent's by fork",
	Ladder: []Rung{{
		{Kind: Syscall, Target: "sys_enter_dup", Prog: "fd_dup_dup_enter"},
		{Kind: Syscall, Target: "sys_exit_dup", Prog: "fd_dup_dup_exit"},
		{Kind: Syscall, Target: "sys_enter_dup2", Prog: "fd_dup_dup2_enter"},
		{Kind: Syscall, Target: "sys_exit_dup2", Prog: "fd_dup_dup2_exit"},
		{Kind: Syscall, Target: "sys_enter_dup3", Prog: "fd_dup_dup3_enter"},
		{Kind: Syscall, Target: "sys_exit_dup3", Prog: "fd_dup_dup3_exit"},
		{Kind: Syscall, Target: "sys_enter_fcntl", Prog: "fd_dup_fcntl_enter"},
		{Kind: Syscall, Target: "sys_exit_fcntl", Prog: "fd_dup_fcntl_exit"},
		{Kind: RawTP, Target: "sched_process_fork", Args: 2, Prog: "fd_dup_fork_tp"},
	}}}
