package schema

// SysConnect is one connect(2), when it returns, or one of io_uring or of a 32-bit program. Of
// io_uring the descriptor is not seen, and its calls do not wait: EINPROGRESS, most often.
type SysConnect struct {
	Header
	Cookie   int64    `col:"cookie" null:"zero"`
	Dur      int64    `col:"dur_ns" null:"zero" unit:"ns" doc:"how long the call took; it began at ts_ns - dur_ns; NULL if that was before the recording began"`
	Ret      int64    `col:"ret"`
	DestAddr [16]byte `col:"dest_addr" as:"ip Family"`
	DestPort uint16   `col:"dest_port" null:"zero"`
	Family   uint16   `col:"family" as:"enum family"`
	Type     uint16   `col:"sock_type" as:"enum sock_type" null:"zero"`
	Protocol uint16   `col:"protocol" as:"enum protocol" null:"ones"`
	FD       int32    `col:"fd" null:"least" doc:"file descriptor of the call; NULL where io_uring hides it"`
	Door     uint8    `col:"door" as:"enum door" doc:"how the call came into the kernel: syscall, io_uring, or compat for a system call of a 32-bit program"`
	_        [3]uint8
	UStack   [64]uint64 `col:"ustack" as:"ustack" doc:"user stack of the caller, folded, outermost first"`
}

var sysConnect = Event{ID: 30, Name: "sys_connect", Row: SysConnect{}, Rate: Low, Profile: Light, Tasks: true,
	Says: SaysConnect, Identity: Identifies,
	Groups: []string{"sys"},
	Doc:    "connect(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_connect", Prog: "sys_connect_enter"},
			{Kind: Syscall, Target: "sys_exit_connect", Prog: "sys_connect_exit"},
			{Kind: Fentry, Target: "__sys_connect", Args: 3, Prog: "sys_connect_compat_enter"},
			{Kind: Fexit, Target: "__sys_connect", Args: 3, Prog: "sys_connect_compat_exit"},
			{Kind: Fentry, Target: "__sys_connect_file", Args: 4, Prog: "sys_connect_uring_enter"},
			{Kind: Fexit, Target: "__sys_connect_file", Args: 4, Prog: "sys_connect_uring_exit",
				Missed: "connects by io_uring or 32-bit programs"}},
		{{Kind: RawTP, Target: "inet_sock_set_state", Prog: "sys_connect_state_tp",
			Missed: "connects by io_uring or 32-bit programs that are not TCP's, or fail before the SYN"},
			{Kind: Syscall, Target: "sys_enter_connect", Prog: "sys_connect_enter"},
			{Kind: Syscall, Target: "sys_exit_connect", Prog: "sys_connect_exit"}},
	}}
