package host

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// lab is a network namespace made for one test.
type lab struct {
	inode    uint32
	listener net.Listener
	conn     net.Conn
	udp      net.PacketConn
	held     netns.NsHandle
}

// makeLab makes a namespace with a listener, a connection through it and a UDP
// socket. It needs CAP_SYS_ADMIN.
func makeLab(t *testing.T) *lab {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	l := &lab{}
	errs := make(chan error, 1)
	go onThread(func() { errs <- l.fill() })
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.listener.Close(); l.conn.Close(); l.udp.Close(); l.held.Close() })
	return l
}

func (l *lab) fill() (err error) {
	if l.held, err = netns.New(); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(l.held), &st); err != nil {
		return err
	}
	l.inode = uint32(st.Ino)
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/tcp_rmem", []byte("4096 99999 777777"), 0); err != nil {
		return err
	}
	if l.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return err
	}
	// net.Dial may open its socket on another thread, in another namespace.
	if l.conn, err = dialHere(l.listener.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	l.udp, err = net.ListenPacket("udp6", "[::1]:0")
	return err
}

func dialHere(port int) (net.Conn, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "conn")
	defer f.Close()
	return net.FileConn(f)
}

func (l *lab) path() string { return "/proc/self/fd/" + strconv.Itoa(int(l.held)) }

func TestFactsOfOneNamespace(t *testing.T) {
	l := makeLab(t)
	// No process is in the namespace: it is reached as a user's --netns PATH would be.
	inode, _, err := NetnsInode(l.path())
	if err != nil || inode != l.inode {
		t.Fatalf("NetnsInode(%s) = %d, %v; want %d", l.path(), inode, err, l.inode)
	}
	r := &Report{Counters: &Counters{}, Alive: &Alive{}, Sysctls: map[string]string{}}
	ns := namespace{inode: l.inode, path: l.path(), sysctls: true}
	if err := ns.do(func() { r.namespace(&ns, true) }); err != nil {
		t.Fatal(err)
	}
	if err := r.Own(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if len(r.Interfaces) != 1 || r.Interfaces[0].Name != "lo" || r.Interfaces[0].MTU != 65536 || r.Interfaces[0].Netns != l.inode {
		t.Errorf("interfaces %+v, want lo alone", r.Interfaces)
	}
	if got := r.Sysctls["net.ipv4.tcp_rmem"]; got != "4096 99999 777777" {
		t.Errorf("tcp_rmem %q, want the namespace's own", got)
	}
	checkSockets(t, l, r.Sockets)
	checkCounters(t, l, r.Counters)
}

func checkSockets(t *testing.T, l *lab, socks []schema.Socket) {
	t.Helper()
	port := l.listener.Addr().(*net.TCPAddr).Port
	want := []struct {
		what  string
		match func(s *schema.Socket) bool
		owned bool
	}{
		{"listener", func(s *schema.Socket) bool { return s.State == "LISTEN" && s.Lport == port && s.Protocol == "tcp" }, true},
		{"connecting end", func(s *schema.Socket) bool {
			return s.State == "ESTABLISHED" && s.Rport == port && s.Raddr == "127.0.0.1"
		}, true},
		{"end not accepted yet", func(s *schema.Socket) bool { return s.State == "ESTABLISHED" && s.Lport == port }, false},
		{"UDP socket", func(s *schema.Socket) bool { return s.Protocol == "udp" && s.Family == "inet6" && s.Laddr == "::1" }, true},
	}
	for _, w := range want {
		var found *schema.Socket
		for i := range socks {
			if w.match(&socks[i]) {
				found = &socks[i]
			}
		}
		if found == nil {
			t.Errorf("no %s among %+v", w.what, socks)
			continue
		}
		if found.Cookie == 0 || found.Netns != l.inode {
			t.Errorf("%s: cookie %d, netns %d", w.what, found.Cookie, found.Netns)
		}
		owned := len(found.Owners) == 1 && found.Owners[0].Pid == os.Getpid() && found.Owners[0].Comm != ""
		if owned != w.owned {
			t.Errorf("%s: owners %+v, want owned %v", w.what, found.Owners, w.owned)
		}
	}
}

func checkCounters(t *testing.T, l *lab, c *Counters) {
	t.Helper()
	defer c.Close()
	before, gone := c.Read()
	if gone != 0 || before["TcpPassiveOpens"] != 1 || before["TcpActiveOpens"] != 1 {
		t.Fatalf("opens %d passive, %d active, %d gone; want 1, 1, 0", before["TcpPassiveOpens"], before["TcpActiveOpens"], gone)
	}
	for _, name := range []string{"IpExtInNoECTPkts", "TcpExtTCPLostRetransmit", "Ip6InReceives", "UdpInDatagrams"} {
		if _, ok := before[name]; !ok {
			t.Errorf("no counter %s", name)
		}
	}
	const sent = 7
	for range sent {
		if _, err := l.udp.WriteTo([]byte("x"), l.udp.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := c.Read()
	if got := after["Udp6OutDatagrams"] - before["Udp6OutDatagrams"]; got != sent {
		t.Errorf("Udp6OutDatagrams grew by %d, want %d", got, sent)
	}
}

// The cookie in the dump must be the one the kernel uses, and reading it must make
// the kernel assign it.
func TestDumpAssignsTheCookie(t *testing.T) {
	self, _, err := NetnsInode("self")
	if err != nil {
		t.Fatal(err)
	}
	for protocol, mptcp := range map[string]bool{"tcp": false, "mptcp": true} {
		var lc net.ListenConfig
		lc.SetMultipathTCP(mptcp)
		ln, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		var kernel uint64
		raw, _ := ln.(*net.TCPListener).SyscallConn()
		raw.Control(func(fd uintptr) {
			if got, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PROTOCOL); mptcp && got != unix.IPPROTO_MPTCP {
				protocol = "tcp" // a kernel without MPTCP: Go has fallen back
			}
		})
		r, err := Facts(context.Background(), []uint32{self})
		if err != nil {
			t.Fatal(err)
		}
		r.Counters.Close()
		raw.Control(func(fd uintptr) { kernel, err = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE) })
		if err != nil {
			t.Fatal(err)
		}
		port := ln.Addr().(*net.TCPAddr).Port
		found := false
		for _, s := range r.Sockets {
			if s.Lport == port && s.State == "LISTEN" && s.Protocol == protocol {
				found = true
				if s.Cookie == 0 || uint64(s.Cookie) != kernel {
					t.Errorf("%s: cookie %d, SO_COOKIE says %d", protocol, s.Cookie, kernel)
				}
			}
		}
		if !found {
			t.Errorf("%s: listener on port %d not found", protocol, port)
		}
	}
}

func TestFactsOfAllNamespaces(t *testing.T) {
	r, err := Facts(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Counters.Close()
	if r.Host.Name == "" || r.Host.Kernel == "" || len(r.Host.BootID) != 36 || r.Host.CPUs < 1 {
		t.Errorf("host %+v", r.Host)
	}
	for _, name := range []string{"net.ipv4.tcp_rmem", "net.core.somaxconn", "net.ipv4.tcp_congestion_control"} {
		if r.Sysctls[name] == "" || strings.ContainsAny(r.Sysctls[name], "\t\n") {
			t.Errorf("sysctl %s = %q", name, r.Sysctls[name])
		}
	}
	if sum, _ := r.Counters.Read(); sum["TcpRtoMin"] != 0 || len(sum) < 50 {
		t.Errorf("%d counters, TcpRtoMin %d", len(sum), sum["TcpRtoMin"])
	}
}

func TestFactsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Facts(ctx, nil); err == nil {
		t.Error("no error from a cancelled context")
	}
}

func TestNetnsInode(t *testing.T) {
	self, _, err := NetnsInode("self")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"/proc/self/ns/net", strconv.Itoa(os.Getpid()), strconv.FormatUint(uint64(self), 10)} {
		if got, path, err := NetnsInode(spec); err != nil || got != self || path == "" {
			t.Errorf("NetnsInode(%q) = %d, %q, %v; want %d", spec, got, path, err, self)
		}
	}
	for spec, want := range map[string]string{
		"":                  "empty",
		"no-such-name":      "not in /run/netns",
		"/etc/passwd":       "not a namespace",
		"/proc/self/ns/mnt": "not a network namespace",
		"/dev/null":         "not a namespace",
		"4294967294":        "no process or name refers to it",
		"../../etc/passwd":  "open",
		"99999999999999":    "not in /run/netns",
		"4194303":           "open",
	} {
		if _, _, err := NetnsInode(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NetnsInode(%q): %v, want %q in it", spec, err, want)
		}
	}
}

// A foreign namespace must not leak into goroutines that run afterwards.
func TestThreadIsDiscarded(t *testing.T) {
	l := makeLab(t)
	ns := namespace{inode: l.inode, path: l.path()}
	for range 20 {
		if err := ns.do(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		got := make(chan uint32)
		go func() {
			n, _ := linkInode("/proc/thread-self/ns/net", "net:[")
			got <- n
		}()
		if n := <-got; n == l.inode {
			t.Fatal("a goroutine ran in the test's namespace")
		}
	}
}
