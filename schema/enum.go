package schema

import "strconv"

// EnumValue is one named value of an enum column.
type EnumValue struct {
	Value int64
	Name  string
}

// Enum is a table of names for a column that the ring carries as a number and
// the file as a string.
type Enum struct {
	Name   string
	Values []EnumValue

	// Kernel names the kernel enum whose names, taken from the recording host's
	// BTF, replace Values: such enums are renumbered between releases.
	Kernel string
	// Trim is cut from the front of kernel names.
	Trim string

	// Probe marks enums whose values are chosen here rather than by the kernel;
	// the generated C header defines them.
	Probe bool
}

// Lookup gives the name of v, or its decimal form where it has none.
func (e *Enum) Lookup(v int64) string {
	for i := range e.Values {
		if e.Values[i].Value == v {
			return e.Values[i].Name
		}
	}
	return strconv.FormatInt(v, 10)
}

// Enums lists every enum table by name.
var Enums = map[string]*Enum{}

func enum(e Enum) *Enum {
	Enums[e.Name] = &e
	return &e
}

func names(first int64, ss ...string) []EnumValue {
	vs := make([]EnumValue, len(ss))
	for i, s := range ss {
		vs[i] = EnumValue{first + int64(i), s}
	}
	return vs
}

// Enum tables. Names are the kernel's where it has some.
var (
	_ = enum(Enum{Name: "ctx", Probe: true, Values: names(0, "task", "softirq", "hardirq", "nmi", "unknown")})
	_ = enum(Enum{Name: "dir", Probe: true, Values: names(0, "send", "recv")})
	_ = enum(Enum{Name: "door", Probe: true, Values: names(0, "syscall", "io_uring", "compat")})
	_ = enum(Enum{Name: "retrans_kind", Probe: true, Values: names(1, "R", "L", "S")})
	_ = enum(Enum{Name: "cause", Probe: true, Values: names(1, "ring", "scratch", "writer", "nested")})
	_ = enum(Enum{Name: "func", Probe: true, Values: names(1,
		"close", "close_range", "accept", "accept4",
		"getaddrinfo", "gethostbyname", "gethostbyname2", "gethostbyname_r", "gethostbyname2_r",
		"__alloc_skb", "__build_skb_around", "kmem_cache_alloc",
		"skb_release_data", "kfree_skb_partial", "napi_skb_free_stolen_head",
		"socket", "socketpair",
		"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
		"dup", "dup2", "dup3", "fcntl", "fork", "exit",
		"read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "recvmmsg",
		"write", "writev", "pwritev2", "sendto", "sendmsg", "sendmmsg",
		"tcp_v4_syn_recv_sock", "tcp_v6_syn_recv_sock", "tcp_v4_connect", "tcp_v6_connect", "tcp_sendmsg", "tcp_recvmsg",
		"udp_sendmsg", "udpv6_sendmsg", "udp_recvmsg", "udpv6_recvmsg",
		"exec", "scm_detach_fds", "vfs_read", "vfs_write", "vfs_readv", "vfs_writev",
		"sock_queue_rcv_skb", "udp_queue_rcv_skb")})
	_ = enum(Enum{Name: "derive_kind", Probe: true, Values: names(0, "clone", "copy", "segment", "gro", "coalesce")})
	// File types are the four upper bits of an inode's mode.
	_ = enum(Enum{Name: "file_type", Values: []EnumValue{
		{1, "fifo"}, {2, "character"}, {4, "directory"}, {6, "block"}, {8, "regular"}, {10, "link"}, {12, "socket"}}})
	_ = enum(Enum{Name: "path_form", Probe: true, Values: []EnumValue{{PathRooted, "rooted"}, {PathCut, "cut"}, {PathFree, "free"}}})
	_ = enum(Enum{Name: "h_errno", Probe: true, Values: names(1,
		"NETDB_INTERNAL", "NETDB_SUCCESS", "HOST_NOT_FOUND", "TRY_AGAIN", "NO_RECOVERY", "NO_DATA")})
	_ = enum(Enum{Name: "scan_step", Probe: true, Values: names(1, "start", "done")})
	_ = enum(Enum{Name: "wifi_band", Values: names(0, "2GHZ", "5GHZ", "60GHZ", "6GHZ", "S1GHZ", "LC")})
	_ = enum(Enum{Name: "epoll_op", Values: names(1, "ADD", "DEL", "MOD", "CREATE")})
	// BindOpts are bits: options of a socket that decide what bind(2) lets it have.
	BindOpts = enum(Enum{Name: "bind_opt", Probe: true, Values: []EnumValue{
		{1, "freebind"}, {2, "transparent"}, {4, "bind_address_no_port"}, {8, "reuseaddr"}, {16, "reuseport"}}})
	// PollEvents are bits: events of poll and epoll, without the prefix.
	PollEvents = enum(Enum{Name: "poll_event", Values: []EnumValue{
		{0x1, "IN"}, {0x2, "PRI"}, {0x4, "OUT"}, {0x8, "ERR"}, {0x10, "HUP"}, {0x20, "NVAL"}, {0x40, "RDNORM"}, {0x80, "RDBAND"},
		{0x100, "WRNORM"}, {0x200, "WRBAND"}, {0x400, "MSG"}, {0x2000, "RDHUP"},
		{1 << 28, "EXCLUSIVE"}, {1 << 29, "WAKEUP"}, {1 << 30, "ONESHOT"}, {1 << 31, "ET"}}})
	_ = enum(Enum{Name: "stage", Probe: true, Values: names(1, "received", "queued", "started")})

	// TCPStates are the values of sk_state for TCP.
	TCPStates = enum(Enum{Name: "tcp_state", Values: names(1,
		"ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
		"CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV")})
	_ = enum(Enum{Name: "ca_state", Values: names(0, "open", "disorder", "cwr", "recovery", "loss")})

	_ = enum(Enum{Name: "family", Values: []EnumValue{
		{0, "unspec"}, {1, "unix"}, {2, "inet"}, {10, "inet6"}, {16, "netlink"}, {17, "packet"},
		{38, "alg"}, {40, "vsock"}, {44, "xdp"}}})
	_ = enum(Enum{Name: "sock_type", Values: []EnumValue{
		{1, "stream"}, {2, "dgram"}, {3, "raw"}, {4, "rdm"}, {5, "seqpacket"}, {6, "dccp"}, {10, "packet"}}})
	_ = enum(Enum{Name: "protocol", Values: []EnumValue{
		{0, "ip"}, {1, "icmp"}, {2, "igmp"}, {4, "ipip"}, {6, "tcp"}, {17, "udp"}, {33, "dccp"}, {41, "ipv6"},
		{47, "gre"}, {50, "esp"}, {51, "ah"}, {58, "icmpv6"}, {60, "dstopts"}, {89, "ospf"}, {132, "sctp"}, {136, "udplite"},
		{255, "raw"}, {262, "mptcp"}}})
	_ = enum(Enum{Name: "ethertype", Values: []EnumValue{
		{0x0800, "ipv4"}, {0x0806, "arp"}, {0x86dd, "ipv6"}, {0x8100, "vlan"}, {0x88cc, "lldp"}}})

	// Softirqs are the vectors as /proc/softirqs names them.
	Softirqs = enum(Enum{Name: "softirq_vector", Values: names(0,
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")})
	_ = enum(Enum{Name: "irq_ret", Values: names(0, "none", "handled", "wake_thread")})

	// DropReasons has no values of its own: each kernel numbers them anew.
	DropReasons = enum(Enum{Name: "drop_reason", Kernel: "skb_drop_reason", Trim: "SKB_DROP_REASON_"})
	// QdiscDropReasons came with the tracepoint qdisc_drop (7.2).
	QdiscDropReasons = enum(Enum{Name: "qdisc_drop_reason", Kernel: "qdisc_drop_reason", Trim: "QDISC_DROP_"})
	_                = enum(Enum{Name: "rst_reason", Kernel: "sk_rst_reason", Trim: "SK_RST_REASON_"})
)
