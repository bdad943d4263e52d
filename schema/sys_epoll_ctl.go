package schema

// SysEpollCtl is one epoll_ctl(2), when it returns. It ties the data that epoll_wait
// gives back to a descriptor.
type SysEpollCtl struct {
	Header
	Cookie int64  `col:"cookie" null:"zero"`
	Dur    int64  `col:"dur_ns"`
	Ret    int64  `col:"ret"`
	Data   uint64 `col:"epoll_data" as:"addr" doc:"the caller's data for this descriptor, often the descriptor itself or a pointer"`
	Epoll  uint64 `col:"epoll" as:"addr" null:"zero" doc:"kernel address of the epoll instance, which tells apart those that had the same descriptor one after the other"`
	FD     int32  `col:"fd"`
	EpFD   int32  `col:"epfd" null:"ones"`
	Events uint32 `col:"epoll_events" as:"bits poll_event" null:"zero" doc:"events wanted: IN|OUT|ET; NULL for DEL"`
	Op     uint8  `col:"epoll_op" as:"enum epoll_op" doc:"what to do with the descriptor: ADD, DEL or MOD"`
	_      [3]uint8
}

var sysEpollCtl = Event{ID: 64, Name: "sys_epoll_ctl", Row: SysEpollCtl{}, Rate: Low, Profile: Default,
	Groups: []string{"sys"},
	Doc:    "epoll_ctl(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_epoll_ctl", Prog: "sys_epoll_ctl_enter"},
			{Kind: Syscall, Target: "sys_exit_epoll_ctl", Prog: "sys_epoll_ctl_exit"}},
	}}
