package schema

// Header starts every ring record and gives the columns that are never NULL.
//
// The order of fields is the binary layout, so there is no implicit padding.
type Header struct {
	TS    uint64   `col:"ts_ns" as:"time" unit:"ns" doc:"time of the event, nanoseconds since the Unix epoch; for a call, the time it returned"`
	Seq   uint64   `col:"seq" doc:"counter of this CPU over all events, lost ones included; a gap is a loss"`
	Sock  uint64   `col:"sock" as:"addr" doc:"kernel address of the struct sock, 0 if none; reused after free"`
	Skb   uint64   `col:"skb" as:"addr" doc:"kernel address of the struct sk_buff, 0 if none; reused after free"`
	Pid   int32    `col:"pid" doc:"process (tgid) on the CPU; the owner of the socket only where ctx is task"`
	Tid   int32    `col:"tid" doc:"thread on the CPU"`
	Netns uint32   `col:"netns" doc:"inode of the network namespace of the socket, packet or task, 0 if unknown"`
	Event uint16   `col:"event" as:"enum event" doc:"what happened"`
	CPU   uint16   `col:"cpu" doc:"CPU the probe ran on"`
	Ctx   uint8    `col:"ctx" as:"enum ctx" doc:"what the CPU was doing: task, softirq, hardirq, nmi, or unknown where the kernel hides it"`
	Wake  uint8    // between probe and ring only: this record wakes the recorder
	_     [2]uint8 // keeps the next aligned
	// The low half of its number, which no other group has before 2^32 were made.
	Cgroup uint32   `col:"cgroup" as:"cgroup" doc:"control group (version 2) of the process on the CPU, below /sys/fs/cgroup; #N, its inode, where the recorder did not find it in time; NULL in the recorder's own rows"`
	Comm   [16]byte `col:"comm" as:"str" doc:"name of the thread on the CPU"`
}

// Tuple is the address pair of a socket, as the socket saw it at that moment.
type Tuple struct {
	Laddr  [16]byte `col:"laddr" as:"ip Family" doc:"local address"`
	Raddr  [16]byte `col:"raddr" as:"ip Family" doc:"remote address"`
	Lport  uint16   `col:"lport" doc:"local port; 0 before the kernel chose one"`
	Rport  uint16   `col:"rport" doc:"remote port"`
	Family uint16   `col:"family" as:"enum family" doc:"address family of the socket or of the address given; of a lookup the one asked for, unspec for any"`
	_      [2]uint8
}
