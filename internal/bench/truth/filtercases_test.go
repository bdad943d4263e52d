package truth

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// filterCases is one row per filter, and some of them together.
func filterCases(s stage) []filterCase {
	flag := func(args ...string) func(*play) []string { return func(*play) []string { return args } }
	right := func(who string) bool { return who == "nr-right" }
	left := func(who string) bool { return who == "nr-left" }
	root := func(who string) bool { return who == "nr-left" || who == kernelOwned }
	return []filterCase{
		{name: "pid", args: func(p *play) []string { return []string{"--pid", p.pid("nr-right")} },
			want: byTask(right)},
		{name: "two pids", words: true, args: func(p *play) []string { return []string{"--pid", "1," + p.pid("nr-left")} }, want: byTask(left)},
		{name: "comm", words: true, args: flag("--comm", "nr-left"), want: byTask(left)},
		{name: "uid", args: flag("--uid", fmt.Sprint(rightUID)), want: byOwner(right), check: softirqProof},
		{name: "cgroup", words: true, args: flag("--cgroup", s.right), want: byOwner(right), check: softirqProof},
		{name: "cgroup id", words: true, args: func(*play) []string { return []string{"--cgroup", inode(s.left)} },
			want: byOwner(left)},
		{name: "cgroup above", args: flag("--cgroup", s.group, "--uid", "0"), want: byOwner(left)},
		{name: "container", words: true, args: flag("--container", s.container[:12]), want: byOwner(right)},
		{name: "port", words: true, args: flag("--port", fmt.Sprint(loTCP6)), want: byEnds(func(e end) bool { return e.port == loTCP6 })},
		{name: "ports", words: true, args: flag("--port", fmt.Sprint(loUDP4, ",", loUDP6)),
			want: byEnds(func(e end) bool { return e.port == loUDP4 || e.port == loUDP6 }), check: datagrams(2 * (13 + 15))},
		{name: "address", words: true, args: flag("--addr", "127.0.7.1"), want: byEnds(within("127.0.7.1/32"))},
		{name: "network", args: flag("--addr", "127.0.7.0/24,fd77::/64"), want: byEnds(within("127.0.7.0/24", "fd77::/64"))},
		{name: "address6", words: true, args: flag("--addr", "::1"), want: byEnds(within("::1/128"))},
		{name: "tcp", words: true, args: flag("--proto", "tcp"), want: byProto("tcp"), check: segments},
		{name: "udp", words: true, args: flag("--proto", "UDP"), want: byProto("udp"), check: datagrams(2*(13+15) + 5)},
		{name: "icmp", args: flag("--proto", "icmp"), want: byProto("icmp"), check: echoes},
		{name: "state", args: flag("--tcp-state", "LISTEN"), want: listening},
		{name: "dev", args: flag("--dev", "va"), want: func(_ *play, r *Row) bool { return r.Event != "icmp_echo" }, check: onDevice("va")},
		{name: "dev by index", words: true, args: flag("--dev", "1"), check: onDevice("lo")},
		{name: "sample", args: flag("--sample", "1/3", "--sample-seed", "7"), want: bySample, check: sameConnections},
		{name: "sample of the other end", words: true, args: flag("--sample", "1/3", "--sample-seed", "7"), netns: s.b, check: sameConnections},
		{name: "netns", words: true, args: flag(), netns: s.b, check: otherNamespace},
		{name: "two namespaces", args: flag(), netns: s.a + "," + s.b, check: bothNamespaces},
		{name: "together", args: flag("--proto", "tcp", "--uid", "0", "--port", fmt.Sprint(loTCP4, ",", loUDP4, ",", mapped), "--addr", "127.0.0.0/8"),
			want: func(p *play, r *Row) bool {
				return byProto("tcp")(p, r) && byOwner(root)(p, r) &&
					byEnds(func(e end) bool { return e.port == loTCP4 || e.port == mapped })(p, r)
			}},
	}
}

func (p *play) pid(name string) string {
	for pid, n := range p.pids {
		if n == name {
			return strconv.FormatInt(pid, 10)
		}
	}
	return "none"
}

func inode(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "none"
	}
	return strconv.FormatUint(st.Ino, 10)
}

// byTask: rows in the context of a task are the task's; all others stay.
func byTask(want func(comm string) bool) func(*play, *Row) bool {
	return func(p *play, r *Row) bool { return r.Str["ctx"] != "task" || want(p.pids[r.Int["pid"]]) }
}

// byOwner: in the context of a task it is the task, otherwise the socket's owner; what has
// none, as a packet that the kernel itself answers, stays.
func byOwner(want func(name string) bool) func(*play, *Row) bool {
	return func(p *play, r *Row) bool {
		if r.Str["ctx"] == "task" {
			return want(p.pids[r.Int["pid"]])
		}
		who := p.owner(r)
		return who == "" || want(who)
	}
}

// kernelOwned is the kernel's own socket that answers echoes: root's, in no cgroup of ours.
const kernelOwned = "kernel"

// owner is who has the socket of a row, "" if it has none.
func (p *play) owner(r *Row) string {
	if r.Event == "icmp_echo" && r.Int["sock"] != 0 {
		return kernelOwned
	}
	if x, ok := p.byPort[r.Int["lport"]]; ok {
		return x.Server
	}
	if x, ok := p.byPort[r.Int["rport"]]; ok {
		return x.Client
	}
	return ""
}

// end is an address and port of a row.
type end struct {
	addr netip.Addr
	port int64
}

// ends lists the ends that a row was judged by.
func ends(r *Row) []end {
	var es []end
	add := func(addr, port string) {
		if a, err := netip.ParseAddr(r.Str[addr]); err == nil || r.Int[port] != 0 {
			es = append(es, end{a.Unmap(), r.Int[port]})
		}
	}
	add("laddr", "lport")
	add("raddr", "rport")
	switch r.Event {
	case "sys_connect", "udp_msg":
		add("dest_addr", "dest_port")
		add("peer_addr", "peer_port")
	case "icmp_echo":
		add("saddr", "")
		add("daddr", "")
	}
	return es
}

func byEnds(want func(end) bool) func(*play, *Row) bool {
	return func(_ *play, r *Row) bool { return slices.ContainsFunc(ends(r), want) }
}

func within(prefixes ...string) func(end) bool {
	return func(e end) bool {
		return slices.ContainsFunc(prefixes, func(s string) bool { return netip.MustParsePrefix(s).Contains(e.addr) })
	}
}

// byProto: by the protocol in the row, or that of the exchange; raw sockets have theirs as
// port.
func byProto(want string) func(*play, *Row) bool {
	return func(p *play, r *Row) bool {
		got := r.Str["protocol"]
		if r.Event == "icmp_echo" || r.Int["lport"] == unix.IPPROTO_ICMP || r.Int["lport"] == unix.IPPROTO_ICMPV6 {
			got = "icmp"
		}
		for _, e := range ends(r) {
			if x, ok := p.byPort[e.port]; ok && got == "" {
				got = x.Net
			}
		}
		return strings.TrimSuffix(got, "v6") == want
	}
}

// listening: rows of listeners, and of changes from or to it.
func listening(p *play, r *Row) bool {
	x, ok := p.byPort[r.Int["lport"]]
	switch r.Event {
	case "tcp_state":
		return r.Str["old_state"] == "LISTEN" || r.Str["new_state"] == "LISTEN"
	case "sys_listen", "tcp_syn_arrive", "tcp_syn_recv":
		return true
	case "sys_close":
		return ok && x.Net == "tcp" && r.Int["rport"] == 0
	}
	return false
}
