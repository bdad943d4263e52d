package traffic

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Device names and addresses of the link's two ends.
const (
	deviceA = "va"
	deviceB = "vb"
)

// linkAddrs are the addresses of each side on the veth pair.
var linkAddrs = map[Side][2]netip.Addr{
	A: {netip.MustParseAddr("10.77.0.1"), netip.MustParseAddr("fd77::1")},
	B: {netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("fd77::2")},
}

// deviceQueues takes packets for queuesPeer through any queueing discipline and throws them
// away. It has two queues, without which some disciplines do not work.
const deviceQueues = "dq"

var queuesAddr, queuesPeer = netip.MustParsePrefix("10.78.0.1/24"), netip.MustParseAddr("10.78.0.2")

// macs are the hardware addresses of the ends, locally administered.
var macs = map[Side]string{A: "02:77:00:00:00:01", B: "02:77:00:00:00:02"}

// Delays of the link's two directions and the loss while the loss kind runs.
const (
	delayA = "2ms"
	delayB = "1ms"
	loss   = "7%"
)

// link is the network between the two sides.
type link struct {
	names    map[Side]string
	fds      map[Side]int
	addrs    map[Side][2]netip.Addr
	veth     bool
	netem    bool
	degraded []string
}

// Setup makes two network namespaces joined by a veth pair with delay, unless
// they are there already. What the kernel does not offer is left out; [Run]
// finds out and says so in its log.
func Setup(a, b string) error {
	if !exists(a) {
		if err := command("ip", "netns", "add", a); err != nil {
			return err
		}
	}
	if err := command("ip", "-n", a, "link", "set", "lo", "up"); err != nil {
		return err
	}
	if b == "" || exists(b) {
		return nil
	}
	if err := command("ip", "netns", "add", b); err != nil {
		return err
	}
	if err := command("ip", "-n", b, "link", "set", "lo", "up"); err != nil {
		return err
	}
	if err := command("ip", "link", "add", deviceA, "address", macs[A], "netns", a, "type", "veth",
		"peer", "name", deviceB, "address", macs[B], "netns", b); err != nil {
		return nil // no veth in this kernel: newLink falls back to loopback
	}
	loadDisciplines()
	loadTunnels()
	LoadRadios()
	ends := []end{{A, B, a, deviceA, delayA}, {B, A, b, deviceB, delayB}}
	for _, e := range ends {
		// One segment a packet: retransmitted packets and RetransSegs agree.
		if err := command("ip", "-n", e.ns, "link", "set", e.dev, "gso_max_segs", "1", "up"); err != nil {
			return err
		}
	}
	for _, e := range ends {
		if err := e.address(); err != nil {
			return err
		}
		_ = netem(e.ns, e.dev, "delay", e.delay)
	}
	return addQueues(a)
}

// addQueues makes the device for queueing disciplines, one that sends nothing by itself: IPv6
// would look for routers.
func addQueues(ns string) error {
	quiet := "echo 1 > /proc/sys/net/ipv6/conf/" + deviceQueues + "/disable_ipv6"
	for _, args := range [][]string{
		{"-n", ns, "link", "add", deviceQueues, "numtxqueues", "2", "type", "dummy"},
		{"netns", "exec", ns, "sh", "-c", quiet},
		{"-n", ns, "link", "set", deviceQueues, "up"},
		{"-n", ns, "addr", "add", queuesAddr.String(), "dev", deviceQueues},
	} {
		if err := command("ip", args...); err != nil {
			return err
		}
	}
	return nil
}

// end is one end of the veth pair.
type end struct {
	side, peer Side
	ns, dev    string
	delay      string
}

// address waits for the link and gives the end its addresses and its neighbour,
// so that no resolution delays or drops a first packet.
func (e end) address() error {
	deadline := time.Now().Add(patience)
	for !strings.Contains(output("ip", "-n", e.ns, "link", "show", e.dev), "state UP") {
		if time.Now().After(deadline) {
			return fmt.Errorf("device %s in %s does not come up", e.dev, e.ns)
		}
		time.Sleep(25 * time.Millisecond)
	}
	mine, theirs := linkAddrs[e.side], linkAddrs[e.peer]
	for _, args := range [][]string{
		{"addr", "add", mine[0].String() + "/24", "dev", e.dev},
		{"addr", "add", mine[1].String() + "/64", "dev", e.dev, "nodad"},
		{"neigh", "replace", theirs[0].String(), "lladdr", macs[e.peer], "dev", e.dev, "nud", "permanent"},
		{"neigh", "replace", theirs[1].String(), "lladdr", macs[e.peer], "dev", e.dev, "nud", "permanent"},
	} {
		if err := command("ip", append([]string{"-n", e.ns}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// Teardown removes the namespaces; the link goes with them.
func Teardown(names ...string) error {
	for _, name := range names {
		if name != "" && exists(name) {
			if err := command("ip", "netns", "del", name); err != nil {
				return err
			}
		}
	}
	return nil
}

// newLink opens the namespaces and sees what the link between them can do. No
// name at all is the namespace of the process, one name that one, both with
// loopback for a link.
func newLink(a, b string) (*link, error) {
	l := &link{names: map[Side]string{A: a, B: a}, fds: map[Side]int{}, addrs: map[Side][2]netip.Addr{}}
	if a != "" && b != "" {
		l.veth = command("ip", "-n", a, "link", "show", deviceA) == nil
		if l.veth {
			l.names[B] = b
		} else {
			l.degraded = append(l.degraded, "veth: this kernel made none; everything goes over loopback")
		}
	}
	loopback := [2]netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
	for side, name := range l.names {
		path := "/proc/thread-self/ns/net"
		if name != "" {
			path = netnsPath(name)
		}
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("opening the network namespace of side %s: %w", side, err)
		}
		l.fds[side] = fd
		l.addrs[side] = loopback
		if l.veth {
			l.addrs[side] = linkAddrs[side]
		}
	}
	l.netem = l.veth && l.shape("delay", delayA) == nil
	if !l.netem {
		l.degraded = append(l.degraded, "netem: none here; no delay and no loss, so nothing is retransmitted and Nagle holds little back")
	}
	return l, nil
}

// shape replaces what netem does to packets from A to B.
func (l *link) shape(args ...string) error { return netem(l.names[A], deviceA, args...) }

func netem(ns, dev string, args ...string) error {
	return command("tc", append([]string{"-n", ns, "qdisc", "replace", "dev", dev, "root", "netem"}, args...)...)
}

func exists(name string) bool {
	_, err := os.Stat(netnsPath(name))
	return err == nil
}

func netnsPath(name string) string { return "/run/netns/" + name }

// command runs a program whose output matters only when it ends badly. Its
// sockets are not this process's.
func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// output is what a program prints, nothing when it ends badly.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// enter moves the calling thread into a side's namespace. The thread must be
// locked to its goroutine for good.
func (l *link) enter(side Side) error {
	if l.names[side] == "" {
		return nil
	}
	runtime.LockOSThread()
	if err := unix.Setns(l.fds[side], unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering network namespace %s: %w", l.names[side], err)
	}
	return nil
}
