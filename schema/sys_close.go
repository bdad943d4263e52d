package schema

// SysClose is a close(2) of a socket's descriptor, or a close_range(2).
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

var sysClose = Event{ID: 32, Name: "sys_close", Row: SysClose{}, Rate: Medium, Profile: Light,
	Groups: []string{"sys"},
	Doc:    "close(2) of a socket's descriptor, or close_range(2), returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_close", Prog: "sys_close_enter"},
			{Kind: Syscall, Target: "sys_exit_close", Prog: "sys_close_exit"},
			{Kind: Syscall, Target: "sys_enter_close_range", Prog: "sys_close_range_enter", Optional: true},
			{Kind: Syscall, Target: "sys_exit_close_range", Prog: "sys_close_range_exit", Optional: true}},
	}}
