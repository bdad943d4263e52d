package schema

// SysConnect is one connect(2), when it returns.
type SysConnect struct {
	Header
	Cookie   int64    `col:"cookie" null:"zero"`
	Dur      int64    `col:"dur_ns" unit:"ns" doc:"how long the call took; it began at ts_ns - dur_ns"`
	Ret      int64    `col:"ret"`
	DestAddr [16]byte `col:"dest_addr" as:"ip Family"`
	DestPort uint16   `col:"dest_port" null:"zero"`
	Family   uint16   `col:"family" as:"enum family"`
	Type     uint16   `col:"sock_type" as:"enum sock_type" null:"zero"`
	Protocol uint16   `col:"protocol" as:"enum protocol" null:"ones"`
	FD       int32    `col:"fd" doc:"file descriptor of the call"`
	_        [4]uint8
	UStack   [64]uint64 `col:"ustack" as:"ustack" doc:"user stack of the caller, folded, outermost first"`
}

var sysConnect = Event{ID: 30, Name: "sys_connect", Row: SysConnect{}, Rate: Low, Profile: Light,
	Groups: []string{"sys"},
	Doc:    "connect(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_connect", Prog: "sys_connect_enter"},
			{Kind: Syscall, Target: "sys_exit_connect", Prog: "sys_connect_exit"}},
	}}
