package schema

// SysBind is one bind(2), when it returns. The tuple is what the socket had then: the
// port that the kernel chose where the caller asked for port 0.
type SysBind struct {
	Header
	Tuple
	Cookie   int64    `col:"cookie" null:"zero"`
	Dur      int64    `col:"dur_ns"`
	Ret      int64    `col:"ret"`
	BindAddr [16]byte `col:"bind_addr" as:"ip BindFam" doc:"local address that the caller asked for, copied when the call began"`
	BindPort uint16   `col:"bind_port" doc:"local port that the caller asked for; 0 leaves the choice to the kernel"`
	BindFam  uint16
	Type     uint16 `col:"sock_type" as:"enum sock_type"`
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	FD       int32  `col:"fd"`
	UID      uint32 `col:"uid"`
	BoundDev int32  `col:"bound_ifindex" null:"zero" doc:"index of the network device that the socket is bound to (SO_BINDTODEVICE)"`
	Opts     uint8  `col:"bind_opts" as:"bits bind_opt" null:"ones" doc:"options of an IP socket that decide what it may bind to: reuseaddr|reuseport; 0 for none of them"`
	_        [3]uint8
}

var sysBind = Event{ID: 60, Name: "sys_bind", Row: SysBind{}, Rate: Low, Profile: Light, Tasks: true,
	Says: SaysBind, Identity: Helps,
	Groups: []string{"sys"},
	Doc:    "bind(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_bind", Prog: "sys_bind_enter"},
			{Kind: Syscall, Target: "sys_exit_bind", Prog: "sys_bind_exit"}},
	}}
