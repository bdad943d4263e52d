package truth

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

// shareDatagrams is how many packets the sample is drawn from.
const shareDatagrams = 20_011

// TestShare records with the profile default, nothing else asked for, and holds what is
// drawn against the kernel's own count of packets. What this kernel shows at all, every
// analysis answers from it.
func TestShare(t *testing.T) {
	tools := needTools(t, "the share of packets that the profile default records")
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	capture := filepath.Join(t.TempDir(), "share.parquet")
	rec, err := ns.Record(tools+"/netrec", capture)
	if err != nil {
		t.Fatal(err)
	}
	before := softirqs(t)
	var packets int64
	if err := ns.Do(func() (err error) {
		if packets, err = loopDatagrams(shareDatagrams); err != nil {
			return err
		}
		return waits()
	}); err != nil {
		t.Fatal(err)
	}
	runs := softirqs(t) - before
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	want := expected(t)
	for _, e := range []string{"dev_queue", "dev_start_xmit", "dev_xmit", "dev_recv"} {
		drawn(t, c, e, packets)
	}
	if n, want := generated(c, "softirq"), runs/16; n < want/3 || n > want*3 {
		t.Errorf("softirq: %d drawn of %d runs, want about %d", n, runs, want)
	}
	drawnWaits(t, c)
	drawnInterest(t, c)
	wholeWays(t, c)
	if want.Functions {
		wholeLives(t, c)
	}
	allAnswered(t, tools, capture)
}

// loopDatagrams sends and receives over loopback, without a loss, and says how many packets the
// kernel counted there.
func loopDatagrams(n int) (packets int64, err error) {
	fds := [2]int{}
	var to unix.Sockaddr
	for i := range fds {
		if fds[i], err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); err != nil {
			return 0, err
		}
		defer unix.Close(fds[i])
		if err = unix.Bind(fds[i], &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return 0, err
		}
		if to, err = unix.Getsockname(fds[i]); err != nil {
			return 0, err
		}
	}
	before, err := loopbackPackets()
	if err != nil {
		return 0, err
	}
	b := make([]byte, 64)
	for i := range n {
		if i%10 == 0 { // over hundreds of timer ticks, of which a share is drawn too
			time.Sleep(time.Millisecond)
		}
		if err := unix.Sendto(fds[0], b[:7], 0, to); err != nil {
			return 0, err
		}
		if _, _, err := unix.Recvfrom(fds[1], b, 0); err != nil {
			return 0, err
		}
	}
	after, err := loopbackPackets()
	return after - before, err
}

// Calls of ppoll(2) by waits; the number of descriptors tells them apart in the file.
const (
	idleWaits, idleFds       = 1_201, 3
	connectWaits, connectFds = 21, 1
	usedChanges              = 40 // of epoll's interest in a connection that data has passed, per connect
)

// waits calls ppoll(2) for nothing, over many timer ticks, and then for connects that do not
// block.
func waits() error {
	var idle [idleFds]unix.PollFd
	for i := range idle {
		idle[i].Fd = -1
	}
	for range idleWaits {
		time.Sleep(time.Millisecond)
		if _, err := unix.Poll(idle[:], 0); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(epfd)
	for range connectWaits {
		if err := connectLater(epfd, l.Addr().(*net.TCPAddr).Port); err != nil {
			return err
		}
	}
	return nil
}

// connectLater connects without blocking, waits until that is over, and uses the connection. It
// tells epoll of it before and after.
func connectLater(epfd, port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != unix.EINPROGRESS {
		return fmt.Errorf("connect: %w, want that it is in progress", err)
	}
	if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLOUT}); err != nil {
		return err
	}
	if _, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1); err != nil {
		return err
	}
	if _, err = unix.Write(fd, []byte("x")); err != nil {
		return err
	}
	for range usedChanges {
		time.Sleep(time.Millisecond)
		if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			return err
		}
	}
	return nil
}

// drawnWaits: of waits for nothing there is a share, of those for a connect there are all;
// and each of them knows when it began.
func drawnWaits(t *testing.T, c *Capture) {
	t.Helper()
	if lostRows(c, "sys_poll") > 0 {
		return
	}
	found, untimed := map[int64]int{}, 0
	for _, r := range c.Select("sys_poll") {
		if r.Int["pid"] != int64(os.Getpid()) || r.Str["func"] != "ppoll" {
			continue
		}
		found[r.Int["nfds"]]++
		if _, ok := r.Int["dur_ns"]; !ok {
			untimed++
		}
	}
	if n := found[idleFds]; n < idleWaits/16/3 || n > idleWaits/16*3 {
		t.Errorf("sys_poll: %d drawn of %d waits, want about %d", n, idleWaits, idleWaits/16)
	}
	if found[connectFds] != connectWaits || untimed > 0 {
		t.Errorf("sys_poll: %d of %d waits for a connect; %d waits without a duration", found[connectFds], connectWaits, untimed)
	}
}

// drawnInterest: what epoll is told of a socket that connects is all there; of one that is in use
// there is a share, though its process connects all the time.
func drawnInterest(t *testing.T, c *Capture) {
	t.Helper()
	if lostRows(c, "sys_epoll_ctl") > 0 {
		return
	}
	ops := map[string]int{}
	for _, r := range c.Select("sys_epoll_ctl") {
		if events := r.Str["epoll_events"]; r.Int["pid"] == int64(os.Getpid()) && (events == "OUT" || events == "IN") { // Go's own are ET
			ops[r.Str["epoll_op"]]++
		}
	}
	if ops["ADD"] != connectWaits {
		t.Errorf("sys_epoll_ctl: %d ADD of %d sockets that connect", ops["ADD"], connectWaits)
	}
	if n, all := ops["MOD"], connectWaits*usedChanges; n < all/16/3 || n > all/16*3 {
		t.Errorf("sys_epoll_ctl: %d MOD drawn of %d for connections in use, want about %d", n, all, all/16)
	}
}

// loopbackPackets is what the device itself has counted.
func loopbackPackets() (int64, error) {
	text, err := os.ReadFile("/proc/thread-self/net/dev")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if name, counts, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "lo" {
			return strconv.ParseInt(strings.Fields(counts)[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("no lo in /proc/net/dev")
}

// softirqs is how many of them all CPUs have run.
func softirqs(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range strings.Fields(string(text)) {
		if v, err := strconv.ParseInt(w, 10, 64); err == nil {
			n += v
		}
	}
	return n
}

func generated(c *Capture, event string) (n int64) {
	for _, l := range c.Meta.Losses {
		if l.Event == event {
			n += l.Generated - l.Nested
		}
	}
	return n
}

// drawn: the share that the file claims is the share that there is, within five standard
// deviations.
func drawn(t *testing.T, c *Capture, event string, packets int64) {
	t.Helper()
	s := c.Meta.Share(event)
	if s == nil || s.Keep != 1 || s.Of != 16 || s.By != schema.ByPacket {
		t.Fatalf("%s: the file says %v of its share", event, s)
	}
	p := float64(s.Keep) / float64(s.Of)
	want, most := float64(packets)*p, 5*math.Sqrt(float64(packets)*p*(1-p))
	if n := generated(c, event); math.Abs(float64(n)-want) > most {
		t.Errorf("%s: %d drawn of %d packets, want %.0f ± %.0f", event, n, packets, want, most)
	}
}

// wholeWays: a packet that was drawn where it began its way is in all rows of the way.
func wholeWays(t *testing.T, c *Capture) {
	t.Helper()
	ways := map[uint64][3]int{}
	for i, e := range []string{"dev_queue", "dev_start_xmit", "dev_recv"} {
		if lostRows(c, e) > 0 {
			return
		}
		for _, r := range c.Select(e) {
			w := ways[uint64(r.Int["skb"])]
			w[i]++
			ways[uint64(r.Int["skb"])] = w
		}
	}
	for skb, w := range ways {
		if w[0] != w[1] || w[0] != w[2] {
			t.Errorf("sk_buff 0x%x: queued %d times, sent %d times, received %d times", skb, w[0], w[1], w[2])
		}
	}
}

// wholeLives: nearly every sk_buff whose birth was drawn has its end; the rest still lives.
func wholeLives(t *testing.T, c *Capture) {
	t.Helper()
	if lostRows(c, "skb_alloc")+lostRows(c, "skb_free") > 0 {
		return
	}
	ends := map[int64]int{}
	for _, r := range c.Select("skb_free") {
		ends[r.Int["skb"]]++
	}
	born, ended := 0, 0
	for _, r := range c.Select("skb_alloc") {
		born++
		if ends[r.Int["skb"]] > 0 {
			ends[r.Int["skb"]]--
			ended++
		}
	}
	if born < shareDatagrams/32 || ended < born*95/100 {
		t.Errorf("%d sk_buffs born, %d of them ended", born, ended)
	}
}

// allAnswered: only what the kernel hides may be missing, and what must be named.
func allAnswered(t *testing.T, tools, capture string) {
	t.Helper()
	out, err := exec.Command(tools+"/netrec", "analyze", capture, "overview", "--format", "json").Output()
	if err != nil {
		t.Fatalf("overview: %v", err)
	}
	var said struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []struct{ Analysis, Can, About string }
			}
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, table := range said.Answers[0].Tables {
		if table.Name != "analyses" {
			continue
		}
		for _, a := range table.Rows {
			listed++
			hidden := strings.Contains(a.About, "could not be recorded: no hook attached") && !strings.Contains(a.About, "was not recorded")
			if a.Can != "yes" && !hidden && a.Analysis != "funccount" && a.Analysis != "tpcount" {
				t.Errorf("%s: %s", a.Analysis, a.About)
			}
			if a.Can != "yes" {
				t.Logf("not answered: %s: %s", a.Analysis, a.About)
			}
		}
	}
	if listed < 60 {
		t.Errorf("overview lists %d analyses", listed)
	}
}
