package schema

// SysAccept is one accept(2) or accept4(2), when it returns, or one of io_uring or of a 32-bit
// program. The socket of the row is the accepted one; on failure there is none. Of io_uring
// neither the listener's descriptor nor the new one is seen, so ret is NULL if it succeeded.
type SysAccept struct {
	Header
	Tuple
	Cookie   int64    `col:"cookie" null:"zero"`
	Dur      int64    `col:"dur_ns" null:"zero"`
	Ret      int64    `col:"ret" null:"least"`
	Listener uint64   `col:"listener" as:"addr" null:"zero" doc:"kernel address of the listening socket"`
	PeerAddr [16]byte `col:"peer_addr" as:"ip PeerFam" doc:"peer address as the call stored it for the caller; NULL if the caller gave no buffer"`
	PeerPort uint16   `col:"peer_port" null:"zero" doc:"peer port as the call stored it for the caller"`
	PeerFam  uint16
	FD       int32  `col:"fd" null:"least"`
	Flags    int32  `col:"flags" doc:"flags argument of the call"`
	PeerBuf  uint8  `col:"peer_buf" doc:"1 if the caller gave a buffer for the peer's address"`
	Func     uint8  `col:"func" as:"enum func" doc:"which of several functions was called"`
	Type     uint16 `col:"sock_type" as:"enum sock_type" null:"zero"`
	Protocol uint16 `col:"protocol" as:"enum protocol" null:"ones"`
	Door     uint8  `col:"door" as:"enum door"`
	_        [5]uint8
}

var sysAccept = Event{ID: 31, Name: "sys_accept", Row: SysAccept{}, Rate: Low, Profile: Light, Tasks: true,
	Says: SaysAccept, Descriptor: AcceptsDescriptor, Identity: Identifies,
	Groups: []string{"sys"},
	Doc:    "accept(2) or accept4(2) returned",
	Ladder: []Rung{
		{{Kind: Syscall, Target: "sys_enter_accept", Prog: "sys_accept_enter"},
			{Kind: Syscall, Target: "sys_exit_accept", Prog: "sys_accept_exit"},
			{Kind: Syscall, Target: "sys_enter_accept4", Prog: "sys_accept4_enter"},
			{Kind: Syscall, Target: "sys_exit_accept4", Prog: "sys_accept4_exit"},
			{Kind: Fentry, Target: "__sys_accept4", Args: 4, Prog: "sys_accept_compat_enter", Optional: true},
			{Kind: Fexit, Target: "__sys_accept4", Args: 4, Prog: "sys_accept_compat_exit", Optional: true, Missed: "accepts by 32-bit programs"},
			{Kind: Fentry, Target: "do_accept", Args: 5, Prog: "sys_accept_uring_enter", Optional: true},
			{Kind: Fexit, Target: "do_accept", Args: 5, Prog: "sys_accept_uring_exit", Optional: true, Missed: "accepts by io_uring"}},
	}}
