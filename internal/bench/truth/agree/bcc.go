package agree

import "strings"

// Bcc are bcc's Python tools as Debian packages them. They compile when they start, which
// takes an emulated machine a minute each, so they have a guest of their own.
var Bcc = []Comparison{
	{Tool: "tcpretrans (bcc)", Command: []string{"tcpretrans-bpfcc"}, Heading: "RADDR:RPORT",
		Theirs: []string{"PID", "IP", "LADDR:LPORT", "RADDR:RPORT", "STATE"},
		Ours:   "tcpretrans --compat", Fields: []string{"pid", "ip", "laddr:lport", "raddr:rport", "state"}},
	{Tool: "solisten (bcc)", Command: []string{"solisten-bpfcc"}, Heading: "BACKLOG",
		Theirs: []string{"PID", "COMM", "PROTO", "BACKLOG", "PORT", "ADDR"},
		Ours:   "solisten", Fields: []string{"pid", "comm", "proto", "backlog", "port", "addr"}},
	{Tool: "tcplife (bcc)", Command: []string{"tcplife-bpfcc", "-w"}, Heading: "RPORT",
		Theirs: []string{"PID", "COMM", "LADDR", "LPORT", "RADDR", "RPORT", "TX_KB", "RX_KB"},
		Ours:   "tcplife --compat=script", Fields: []string{"pid", "comm", "laddr", "lport", "raddr", "rport", "tx_kb", "rx_kb"}},
	{Tool: "tcpstates (bcc)", Command: []string{"tcpstates-bpfcc", "-w"}, Heading: "NEWSTATE",
		Theirs: []string{"SKADDR", "C-PID", "C-COMM", "LADDR", "LPORT", "RADDR", "RPORT", "OLDSTATE", "NEWSTATE"},
		Ours:   "tcpstates --compat", Fields: []string{"sock", "pid", "comm", "laddr", "lport", "raddr", "rport", "old_state", "new_state"}},
	{Tool: "tcpconnect (bcc)", Command: []string{"tcpconnect-bpfcc"}, Heading: "DPORT",
		Theirs: []string{"PID", "COMM", "IP", "SADDR", "DADDR", "DPORT"},
		Ours:   "tcpconnect --compat", Fields: []string{"pid", "comm", "ip", "saddr", "daddr", "dport"}},
	{Tool: "tcpconnlat (bcc)", Command: []string{"tcpconnlat-bpfcc"}, Heading: "DPORT",
		Theirs: []string{"PID", "COMM", "IP", "SADDR", "DADDR", "DPORT"},
		Ours:   "tcpconnect", Fields: []string{"pid", "comm", "ip", "saddr", "daddr", "dport"}, Where: map[string]string{"result": "!closed"}},
	{Tool: "tcpaccept (bcc)", Command: []string{"tcpaccept-bpfcc"}, Heading: "LPORT", Until: "6.11",
		Theirs: []string{"PID", "COMM", "IP", "RADDR", "RPORT", "LADDR", "LPORT"},
		Ours:   "tcpaccept --compat", Fields: []string{"pid", "comm", "ip", "raddr", "rport", "laddr", "lport"}},
	{Tool: "tcpaccept (bcc)", Command: []string{"tcpaccept-bpfcc"}, Heading: "LPORT", Since: "6.12",
		Theirs: []string{"PID", "COMM", "IP", "RADDR", "RPORT", "LADDR", "LPORT"},
		Ours:   "tcpaccept --compat", Fields: []string{"pid", "comm", "ip", "raddr", "rport", "laddr", "lport"},
		Known: "looks for the protocol where older kernels have it, and takes no socket for TCP"},
	{Tool: "tcptracer, connects (bcc)", Command: []string{"tcptracer-bpfcc"}, Heading: "DPORT",
		Theirs: []string{"PID", "COMM", "IP", "SADDR", "SPORT", "DADDR", "DPORT"}, Only: map[string]string{"T": "C"},
		Ours: "tcpconnect", Fields: []string{"pid", "comm", "ip", "saddr", "lport", "daddr", "dport"}, Where: map[string]string{"result": "connected"}},
	{Tool: "tcptracer, accepts (bcc)", Command: []string{"tcptracer-bpfcc"}, Heading: "DPORT",
		Theirs: []string{"PID", "COMM", "IP", "SADDR", "SPORT", "DADDR", "DPORT"}, Only: map[string]string{"T": "A"},
		Ours: "tcpaccept", Fields: []string{"pid", "comm", "ip", "laddr", "lport", "raddr", "rport"}},
	{Tool: "tcptop (bcc)", Command: []string{"tcptop-bpfcc", "-C", "3000"}, Heading: "Tracing",
		Theirs: []string{"PID", "LADDR", "RADDR", "RX_KB", "TX_KB"}, Only: map[string]string{"PID": "!PID"},
		Ours: "tcptop --compat --interval 0 --top 1000", Fields: []string{"pid", "laddr", "raddr", "rx_kb", "tx_kb"}},
	{Tool: "tcpsynbl (bcc)", Command: []string{"tcpsynbl-bpfcc"}, Heading: "Tracing", Theirs: []string{"key", "low"},
		Ours: "tcpsynbl --compat", Fields: []string{"limit", "low|1"}},
	{Tool: "tcpdrop (bcc)", Command: []string{"tcpdrop-bpfcc"}, Heading: "DADDR:DPORT",
		Theirs: []string{"PID", "SADDR:SPORT", "DADDR:DPORT", "STATE"},
		Ours:   "tcpdrop --compat", Fields: []string{"pid", "from", "to", "state"},
		Known: "takes packets of other protocols for TCP, and leaves out drops without a socket"},
	{Tool: "tcpdrop, while connecting (bcc)", Command: []string{"tcpdrop-bpfcc"}, Heading: "DADDR:DPORT",
		Theirs: []string{"PID", "SADDR:SPORT", "DADDR:DPORT", "STATE"}, Only: map[string]string{"STATE": "SYN_SENT"},
		Ours: "tcpdrop --compat", Fields: []string{"pid", "from", "to", "state"}, Where: map[string]string{"state": "SYN_SENT"}},
	{Tool: "bindsnoop (bcc)", Command: []string{"bindsnoop-bpfcc"}, Heading: "OPTS", Until: "6.11",
		Theirs: []string{"PID", "COMM", "ADDR", "PORT", "OPTS", "IF"}, Only: map[string]string{"PROT": "TCP"},
		Ours: "tcpbind", Fields: []string{"pid", "comm", "addr", "port", "opts", "bound_ifindex"}},
	{Tool: "bindsnoop (bcc)", Command: []string{"bindsnoop-bpfcc"}, Heading: "OPTS", Since: "6.12",
		Theirs: []string{"PID", "COMM", "ADDR", "PORT", "IF"}, Only: map[string]string{"PORT": "1800[1256]"},
		Ours: "tcpbind", Fields: []string{"pid", "comm", "addr", "port", "bound_ifindex"}},
	{Tool: "bindsnoop, protocol and options (bcc)", Command: []string{"bindsnoop-bpfcc"}, Heading: "OPTS", Since: "6.12",
		Theirs: []string{"PORT", "OPTS"}, Only: map[string]string{"PROT": "TCP"},
		Ours: "tcpbind", Fields: []string{"port", "opts"}, Known: "looks for both where older kernels have them, and takes no socket for TCP"},
	{Tool: "sofdsnoop (bcc)", Command: []string{"sofdsnoop-bpfcc"}, Heading: "ACTION",
		Broken: "cannot call non-static helper function", Known: "uses the kernel's min(), which checks its arguments in a way that bcc does not compile",
		Ours: "sofdsnoop", Fields: []string{"action"}},
	{Tool: "gethostlatency (bcc)", Command: []string{"gethostlatency-bpfcc"}, Heading: "HOST",
		Theirs: []string{"PID", "COMM", "HOST"}, Only: map[string]string{"COMM": "agree"},
		Ours: "gethostlatency", Fields: []string{"pid", "comm", "host"}, Where: map[string]string{"comm": "agree"},
		Known: "gives the kernel a reference counter at offset 6 by mistake (six of seven arguments), which keeps other tools' probes out; the answer says that calls were not seen"},
	{Tool: "softirqs, network (bcc)", Command: []string{"softirqs-bpfcc", "-C"}, Heading: "Tracing",
		Theirs: []string{"SOFTIRQ"}, Only: map[string]string{"SOFTIRQ": "net_*"},
		Ours: "softirqs -C", Fields: []string{"vector"}, Where: map[string]string{"vector": "net_*"}, Count: "runs"},
	{Tool: "hardirqs, serial line (bcc)", Command: []string{"hardirqs-bpfcc", "-C"}, Heading: "Tracing",
		Theirs: []string{"HARDIRQ"}, Only: map[string]string{"HARDIRQ": "ttyS0"},
		Ours: "hardirqs --compat -C", Fields: []string{"name"}, Where: map[string]string{"name": "ttyS0"}, Count: "runs"},
}

// bcc reports whether the tool is one of [Bcc].
func (c Comparison) bcc() bool { return c.Command != nil && strings.HasSuffix(c.Command[0], "-bpfcc") }

// debianOf is the release whose bcc is used on a kernel: one that is older than the
// kernel cannot read its headers.
func debianOf(kernel string) string {
	if before(kernel, "6.12") {
		return "bookworm"
	}
	return "trixie"
}
