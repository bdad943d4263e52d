package schema

// ScmFD is one descriptor that a process put into a message of a UNIX socket, or that one
// took out of a message: the same file gets a descriptor in another process. What was
// sent may still be under way, or lost with its message.
type ScmFD struct {
	Header
	PeerSock   uint64 `col:"peer_sock" as:"addr" null:"zero"`
	PassedSock uint64 `col:"passed_sock" as:"addr" null:"zero" doc:"kernel address of the struct sock behind the passed descriptor, if that is a socket"`
	File       uint64 `col:"file" as:"addr" doc:"kernel address of the struct file, the same for sender and receiver; reused after free"`
	FileIno    int64  `col:"file_ino" doc:"number of the file's inode"`
	FD         int32  `col:"fd" null:"ones"`
	FDPassed   int32  `col:"fd_passed" doc:"the descriptor that was passed: the sender's own, or the receiver's new one"`
	Nth        uint16 `col:"nth" null:"ones"`
	Count      uint16 `col:"fds_count" null:"ones" doc:"how many descriptors the message carries; a receiver without room for all gets the first ones; NULL where the hook cannot see it"`
	Type       uint8  `col:"file_type" as:"enum file_type" doc:"type of the file by the bits of its mode"`
	Dir        uint8  `col:"dir" as:"enum dir"`
	_          [2]uint8
	Name       [192]byte `col:"file_name" as:"path" doc:"name of the file at that moment, from the root of its mount namespace; NULL for sockets and pipes, which have none"`
}

// Where functions cannot be hooked, the calls are looked at when they return. That misses
// descriptors passed by sendmmsg(2), recvmmsg(2) and io_uring, and a sender's that are
// closed before its call returns.
var scmFD = Event{ID: 70, Name: "scm_fd", Row: ScmFD{}, Rate: Low, Profile: Default, Tasks: true,
	Descriptor: PassesDescriptor,
	Groups:     []string{"sys"},
	Doc:        "a descriptor was passed over a UNIX socket",
	Ladder: []Rung{
		{{Kind: Fexit, Target: "__scm_send", Args: 3, Prog: "scm_fd_send_fexit"},
			{Kind: Fentry, Target: "scm_detach_fds", Prog: "scm_fd_recv_fentry"},
			{Kind: Fexit, Target: "scm_detach_fds", Prog: "scm_fd_recv_fexit"}},
		{{Kind: Syscall, Target: "sys_exit_sendmsg", Prog: "scm_fd_sendmsg_exit"},
			{Kind: Syscall, Target: "sys_exit_recvmsg", Prog: "scm_fd_recvmsg_exit"}},
	}}
