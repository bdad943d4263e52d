package schema

// SysEpollCtl is one epoll_ctl(2), when it returns. It ties the data that epoll_wait
// gives back to a descriptor. An epoll_create(2) that made an instance is a row, too: what was
// in another with the same number is not in it.
type SysEpollCtl struct {
	Header
	Cookie int64  `col:"cookie" null:"zero"`
	Dur    int64  `col:"dur_ns" null:"zero"`
	Ret    int64  `col:"ret"`
	Data   uint64 `col:"epoll_data" as:"addr" doc:"the caller's data for this descriptor, often the descriptor itself or a pointer"`
	FD     int32  `col:"fd" null:"least"`
	EpFD   int32  `col:"epfd" null:"ones"`
	Events uint32 `col:"epoll_events" as:"bits poll_event" null:"zero" doc:"events wanted: IN|OUT|ET; NULL for DEL"`
	Op     uint8  `col:"epoll_op" as:"enum epoll_op" doc:"what to do with the descriptor: ADD, DEL or MOD; CREATE where the instance was made"`
	_      [3]uint8
}

var sysEpollCtl = Event{ID: 64, Name: "sys_epoll_ctl", Row: SysEpollCtl{}, Rate: High, Profile: Default, Tasks: true, Thin: ByWait,
	Groups: []string{"sys"},
	Doc:    "epoll_ctl(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_epoll_ctl", Prog: "sys_epoll_ctl_enter"},
			{Kind: Syscall, Target: "sys_exit_epoll_ctl", Prog: "sys_epoll_ctl_exit"},
			{Kind: Syscall, Target: "sys_exit_epoll_create", Prog: "sys_epoll_create_exit", Optional: true}, // not on arm64
			{Kind: Syscall, Target: "sys_exit_epoll_create1", Prog: "sys_epoll_create1_exit"}},
	}}
