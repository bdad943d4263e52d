package traffic

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"netrec/internal/bench/vmtest"
)

var kernelList = flag.String("kernels", "", "kernels to boot: names separated by commas, or all")

// program builds the traffic program as it runs in guests: static.
func program(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "traffic")
	cmd := exec.Command("go", "build", "-o", path, "netrec/internal/bench/vmtest/cmd/traffic")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	return path
}

// TestHere makes all traffic over loopback in a new namespace of this kernel;
// it needs no privileges where users may make namespaces.
func TestHere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.json")
	cmd := exec.Command("sh", "-c", `ip link set lo up && exec "$0" -seed 5 -counts tcp4=29,udp6=3,unix=0 -log "$1"`, program(t, dir), path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if l.Netem || len(l.Degraded) != 1 || !strings.Contains(l.Degraded[0], "netem") {
		t.Errorf("over loopback the log says netem %v, degraded %q", l.Netem, l.Degraded)
	}
	if l.Wanted["tcp4"] != 29 || l.Wanted["udp6"] != 3 || l.Wanted["resets"] != DefaultCounts["resets"] {
		t.Errorf("counts asked for are not the wanted ones: %v", l.Wanted)
	}
	checkLog(t, l)
}

// TestGuests makes all traffic over a link with delay and loss.
func TestGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short boots no kernel")
	}
	names, err := vmtest.Select(*kernelList)
	if err != nil {
		t.Fatal(err)
	}
	if names == nil {
		t.Skip("NETREC_KERNELS=none boots no kernel")
	}
	built := program(t, t.TempDir())
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Link(built, filepath.Join(dir, "traffic")); err != nil {
				t.Fatal(err)
			}
			res, err := vmtest.Run(t.Context(), vmtest.Config{
				Kernel: name, Share: dir, Command: []string{"./traffic", "-ns", "a,b", "-log", "/host/log.json"},
			})
			if err != nil || res.ExitCode != 0 {
				t.Fatalf("exit code %d, %v\n%s", res.ExitCode, err, res.Output)
			}
			l, err := Read(filepath.Join(dir, "log.json"))
			if err != nil {
				t.Fatal(err)
			}
			if !l.Netem || l.Degraded != nil || l.Kernel != res.Kernel.Release {
				t.Errorf("kernel %s, netem %v, degraded %q", l.Kernel, l.Netem, l.Degraded)
			}
			checkLog(t, l)
		})
	}
}

// checkLog compares what the program wrote down with what the kernel counted.
func checkLog(t *testing.T, l *Log) {
	t.Helper()
	if len(l.Phases) != len(Kinds()) {
		t.Fatalf("%d phases, want %d", len(l.Phases), len(Kinds()))
	}
	if l.Lingering != nil {
		t.Errorf("sockets had not ended: %q", l.Lingering)
	}
	checkCounters(t, l)
	checkSockets(t, l)
	checkLookups(t, l)
}

// deltas adds both sides' counters up, by kind.
func deltas(l *Log) map[string]map[string]int {
	out := map[string]map[string]int{}
	for _, p := range l.Phases {
		sum := p.Delta[A]
		if l.Namespaces[A].Inode != l.Namespaces[B].Inode {
			for name, n := range p.Delta[B] {
				sum[name] += n
			}
		}
		out[p.Kind] = sum
	}
	return out
}

func checkCounters(t *testing.T, l *Log) {
	t.Helper()
	w, delta := l.Wanted, deltas(l)
	connections := w["tcp4"] + w["tcp6"] + w["tcpmapped"]
	closed4 := (w["udpclosed"] + 1) / 2
	clients, servers := l.Select("udp", "client"), l.Select("udp", "server")
	dropped := (clients[len(clients)-1].Sent - servers[len(servers)-1].Received) / 1001
	for _, c := range []struct {
		kind, counter string
		want          int
	}{
		{"tcp", "Tcp.ActiveOpens", connections + w["refused"]},
		{"tcp", "Tcp.PassiveOpens", connections},
		{"tcp", "Tcp.AttemptFails", w["refused"]},
		{"rst", "Tcp.ActiveOpens", w["resets"]},
		{"rst", "Tcp.EstabResets", 2 * w["resets"]},
		{"close", "Tcp.PassiveOpens", w["closerange"]},
		{"nagle", "Tcp.ActiveOpens", 2},
		{"udp", "Udp.NoPorts", closed4},
		{"udp", "Udp6NoPorts", w["udpclosed"] - closed4},
		{"udp", "Udp.RcvbufErrors", dropped},
		{"unix", "Tcp.ActiveOpens", 0},
		{"loss", "Tcp.PassiveOpens", len(l.Select("loss", "server"))},
		{"backlog", "Tcp.PassiveOpens", w["synack"] + 1},
		{"backlog", "TcpExt.TCPDeferAcceptDrop", w["synack"]},
		{"ecn", "Ip6InCEPkts", w["ce6"]},
		{"echo", "Icmp.InEchos", w["echo4"]},
		{"echo", "Icmp6InEchoReplies", w["echo6"]},
	} {
		if got := delta[c.kind][c.counter]; got != c.want {
			t.Errorf("%s: the kernel counted %s %d, the log has %d", c.kind, c.counter, got, c.want)
		}
	}
	if dropped < 1 {
		t.Errorf("the full buffer dropped %d datagrams", dropped)
	}
	marks := w["ce4"]
	if l.Netem {
		marks += w["marked"]
	}
	if got := delta["ecn"]["IpExt.InCEPkts"]; got != marks {
		t.Errorf("ecn: the kernel counted %d marked packets, the log has %d", got, marks)
	}
	// A slow machine may send a SYN again.
	if got := delta["backlog"]["TcpExt.ListenOverflows"]; got < w["full"] {
		t.Errorf("backlog: the kernel counted %d SYNs without room, the log has %d", got, w["full"])
	}
	lost := delta["loss"]
	if l.Netem && (lost["Tcp.RetransSegs"] < 3 || lost["TcpExt.TCPSynRetrans"] < 1) {
		t.Errorf("the lossy link made %d retransmits, %d of SYNs", lost["Tcp.RetransSegs"], lost["TcpExt.TCPSynRetrans"])
	}
}

// checkSockets checks that what one end sent the other received, and that the
// calls of a socket add up and are in order.
func checkSockets(t *testing.T, l *Log) {
	t.Helper()
	for _, kind := range []string{"tcp", "close", "nagle", "loss", "unix"} {
		clients, servers := l.Select(kind, "client"), l.Select(kind, "server")
		var sent, received int
		for _, s := range clients {
			sent += s.Sent
			received -= s.Received
		}
		for _, s := range servers {
			sent -= s.Sent
			received += s.Received
		}
		if sent != received || kind != "unix" && len(servers) == 0 {
			t.Errorf("%s: %d servers, sent %d, received %d", kind, len(servers), sent, received)
		}
	}
	if n := l.Count("close_range", ""); n != 1 {
		t.Errorf("%d calls of close_range, want 1", n)
	}
	for _, s := range l.Sockets {
		last := int64(0)
		for _, c := range s.Calls {
			if c.Enter < last || c.Exit < c.Enter || (c.Errno != "") != (c.Return == -1) {
				t.Fatalf("socket %d: call %+v after %d", s.Index, c, last)
			}
			last = c.Exit
		}
		if s.Inode == 0 || s.FD < 3 {
			t.Errorf("socket %d has inode %d, descriptor %d", s.Index, s.Inode, s.FD)
		}
	}
}

func checkLookups(t *testing.T, l *Log) {
	t.Helper()
	calls := map[string]int{}
	for _, k := range l.Lookups {
		for name, n := range k.Calls {
			calls[name] += n
		}
		if k.PID == l.PID || k.End-k.Begin < int64(k.DelayMS)*1e6 {
			t.Errorf("lookup %+v took %d ns", k, k.End-k.Begin)
		}
	}
	w := l.Wanted
	hosts := w["gethostbyname"] + w["gethostbyname"]/2
	if calls["getaddrinfo"] != w["lookups"]+w["unknown"] || calls["gethostbyname2"] != hosts {
		t.Errorf("lookups call %v, want %d and %d", calls, w["lookups"]+w["unknown"], hosts)
	}
	servers := l.Select("dns", "nameserver")
	if len(servers) != 1 || servers[0].Sent == 0 || servers[0].TID == l.TID {
		t.Errorf("%d name servers: %+v", len(servers), servers)
	}
}
