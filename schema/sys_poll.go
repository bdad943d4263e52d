package schema

// SysPoll is one call that waits for descriptors, when it returns. Of the descriptors it
// keeps the first 16 (of select, those below 256); nfds and ret count all.
type SysPoll struct {
	Header
	Dur     int64 `col:"dur_ns" null:"zero"`
	Ret     int64 `col:"ret"`
	Timeout int64 `col:"timeout_ns" null:"ones" unit:"ns" doc:"how long the caller was ready to wait; NULL for ever"`
	NFDs    int32 `col:"nfds" doc:"poll: descriptors watched; select: one more than the highest; epoll: most events the caller takes"`
	EpFD    int32 `col:"epfd" null:"ones" doc:"descriptor of the epoll instance"`
	Func    uint8 `col:"func" as:"enum func"`
	_       [7]uint8
	FDs     [1 + PollFDs]uint64      `col:"fds" as:"pollset" doc:"descriptors watched and events wanted: 5:IN|OUT,7:IN and ,+3 for three more; NULL for epoll, see sys_epoll_ctl"`
	Ready   [1 + PollFDs*12/8]uint64 `col:"ready" as:"pollset" doc:"descriptors that were ready and how, in the form of fds; for epoll the caller's data in hexadecimal stands for the descriptor"`
}

var sysPoll = Event{ID: 63, Name: "sys_poll", Row: SysPoll{}, Rate: High, Profile: Default, Tasks: true, Thin: ByWait,
	Groups: []string{"sys"},
	Doc:    "poll(2), select(2), epoll_wait(2) or one of their kind returned",
	Ladder: []Rung{{
		{Kind: Syscall, Target: "sys_enter_poll", Prog: "sys_poll_enter", Optional: true}, // not on arm64, as select and epoll_wait
		{Kind: Syscall, Target: "sys_exit_poll", Prog: "sys_poll_exit", Optional: true},
		{Kind: Syscall, Target: "sys_enter_ppoll", Prog: "sys_ppoll_enter"},
		{Kind: Syscall, Target: "sys_exit_ppoll", Prog: "sys_ppoll_exit"},
		{Kind: Syscall, Target: "sys_enter_select", Prog: "sys_select_enter", Optional: true},
		{Kind: Syscall, Target: "sys_exit_select", Prog: "sys_select_exit", Optional: true},
		{Kind: Syscall, Target: "sys_enter_pselect6", Prog: "sys_pselect6_enter"},
		{Kind: Syscall, Target: "sys_exit_pselect6", Prog: "sys_pselect6_exit"},
		{Kind: Syscall, Target: "sys_enter_epoll_wait", Prog: "sys_epoll_wait_enter", Optional: true},
		{Kind: Syscall, Target: "sys_exit_epoll_wait", Prog: "sys_epoll_wait_exit", Optional: true},
		{Kind: Syscall, Target: "sys_enter_epoll_pwait", Prog: "sys_epoll_pwait_enter"},
		{Kind: Syscall, Target: "sys_exit_epoll_pwait", Prog: "sys_epoll_pwait_exit"},
		{Kind: Syscall, Target: "sys_enter_epoll_pwait2", Prog: "sys_epoll_pwait2_enter", Optional: true}, // 5.11
		{Kind: Syscall, Target: "sys_exit_epoll_pwait2", Prog: "sys_epoll_pwait2_exit", Optional: true},
	}}}
