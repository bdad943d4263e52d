package truth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// talk is a conversation between a client and a server, who wait on purpose.
type talk struct {
	name                                string
	turns                               int
	acceptAfter, think, readAfter, idle time.Duration
	answer                              int           // bytes
	pieces                              bool          // the client asks in two pieces, with Nagle's algorithm
	lossFor                             time.Duration // everything is lost for so long after the connect
	sndbuf                              int           // of the server, bytes; 0 for the usual
	netem                               string

	port   int
	log    []turnLog
	around time.Duration // before the first turn and after the last
	queue  bounds        // from connect's return to accept's
	kernel *unix.TCPInfo // what the kernel told the server at the end
	told   unix.Timespec // before that, monotonic
}

// turnLog is when the calls of a turn began and returned.
type turnLog struct{ asks, second, asked, read, thought, answered, got, next time.Time }

// bounds are the least and the most that something may have taken, going by the log of both ends: on
// a busy machine a program may stand still between a call and its look at the clock.
type bounds struct{ least, most time.Duration }

func (s *bounds) add(least, most time.Duration) { s.least, s.most = s.least+least, s.most+most }

// tick is the longest of the kernel's.
const tick = 10 * time.Millisecond

// near allows for five percent, and for what a call itself takes.
func (s bounds) near(ns int64, calls int) bool {
	slack := time.Duration(calls) * 100 * time.Microsecond
	return float64(ns) >= 0.95*float64(s.least-slack) && float64(ns) <= 1.05*float64(s.most+slack)
}

// TestWaits: what was waited for on purpose is where waits puts it, and turns are as many as there were.
func TestWaits(t *testing.T) {
	converse(t, "", []*talk{
		{name: "server thinks", turns: 7, answer: 101, think: 30 * time.Millisecond},
		{name: "client reads late", turns: 7, answer: 101, readAfter: 30 * time.Millisecond},
		{name: "client idles", turns: 7, answer: 101, idle: 30 * time.Millisecond},
		{name: "accepted late", turns: 1, answer: 101, acceptAfter: 200 * time.Millisecond},
		{name: "many", turns: 1999, answer: 11},
		{name: "nagle", turns: 13, answer: 101, pieces: true},
		{name: "window", turns: 1, answer: 16 << 20, readAfter: 300 * time.Millisecond},
	})
}

// farWay is the round trip of TestFarWaits: so long that what an emulated machine takes for a segment, some milliseconds, is
// little beside it.
const farWay = 400 * time.Millisecond

// TestFarWaits: the same over a long way, with what netem does to it. Emulated guests have it.
func TestFarWaits(t *testing.T) {
	converse(t, "delay "+(farWay/2).String(), []*talk{
		{name: "far", turns: 3, answer: 101},
		{name: "far and lossy", turns: 1, answer: 101, lossFor: 150 * time.Millisecond},
		{name: "small buffer", turns: 1, answer: 128 << 10, sndbuf: 8 << 10},
	})
}

// converse records conversations and checks each. A link that is shaped by netem is as long as its words say. Where rows were lost,
// connections are cut and waits are missing: then they are recorded again.
func converse(t *testing.T, netem string, talks []*talk) {
	t.Helper()
	tools := needTools(t, "waits")
	capture := ""
	for try, said := 1, ""; try <= 3 && !strings.Contains(said, "lost: none"); try++ {
		if try > 1 {
			t.Logf(again+": rows were lost, so that waits are missing:\n%s", said)
		}
		capture = filepath.Join(t.TempDir(), "waits.parquet")
		said = recordTalks(t, tools, capture, netem, talks)
	}
	out, err := exec.Command(tools+"/netrec", "analyze", capture, "waits", "--format", "json").Output()
	if err != nil {
		t.Fatalf("waits: %v", err)
	}
	lines := waitLines(t, out)
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range talks {
		k.checkAccount(t, c)
		k.check(t, lines[fmt.Sprintf(":%d", k.port)], lines[fmt.Sprintf("127.0.0.1:%d", k.port)])
	}
}

// recordTalks has the conversations while they are recorded, and returns what the recorder said.
func recordTalks(t *testing.T, tools, capture, netem string, talks []*talk) string {
	t.Helper()
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	if netem != "" && ns.Do(func() error { return shape(netem) }) != nil {
		t.Skip("no netem here: not checked: waits over a long way")
	}
	rec, err := ns.Record(tools+"/netrec", capture)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range talks {
		k.netem = netem
		if err := ns.Do(k.run); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
	}
	if netem != "" {
		time.Sleep(2 * farWay) // the last FIN is on its way
	}
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	return rec.Said()
}

// shape makes the loopback device of the namespace a longer way.
func shape(netem string) error {
	return exec.Command("tc", strings.Fields("qdisc replace dev lo root netem limit 100000 "+netem)...).Run()
}

// run has the conversation.
func (k *talk) run() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	k.port, k.log = l.Addr().(*net.TCPAddr).Port, make([]turnLog, k.turns)
	served := make(chan error, 1)
	var accepting, accepted time.Time
	go func() {
		time.Sleep(k.acceptAfter)
		accepting = time.Now()
		c, err := l.Accept()
		accepted = time.Now()
		if err == nil {
			err = k.serve(c)
		}
		served <- err
	}()
	dialled := time.Now()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return err
	}
	connected := time.Now()
	if err := c.(*net.TCPConn).SetNoDelay(!k.pieces); err != nil {
		return err
	}
	asked := make(chan error, 1)
	if k.lossFor > 0 {
		if err := shape(k.netem + " loss 100%"); err != nil {
			return err
		}
	}
	go func() { asked <- k.ask(c) }()
	if k.lossFor > 0 {
		time.Sleep(k.lossFor)
		if err := shape(k.netem + " loss 0%"); err != nil {
			return err
		}
	}
	if err := errors.Join(<-asked, <-served); err != nil {
		return err
	}
	k.queue = bounds{accepting.Sub(connected), accepted.Sub(dialled)}
	k.around = k.log[0].asks.Sub(dialled) + time.Since(k.log[k.turns-1].next)
	return nil
}

func (k *talk) ask(c net.Conn) error {
	defer c.Close()
	buf := make([]byte, k.answer)
	for i := range k.log {
		if err := k.question(c, &k.log[i]); err != nil {
			return err
		}
		time.Sleep(k.readAfter)
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		k.log[i].got = time.Now()
		time.Sleep(k.idle)
		k.log[i].next = time.Now()
	}
	return nil
}

func (k *talk) question(c net.Conn, l *turnLog) error {
	first := 29
	if l.asks = time.Now(); k.pieces {
		first = 17
	}
	if _, err := c.Write(make([]byte, first)); err != nil || !k.pieces {
		return err
	}
	l.second = time.Now()
	_, err := c.Write(make([]byte, 29-first))
	l.asked = time.Now()
	return err
}

func (k *talk) serve(c net.Conn) error {
	defer c.Close()
	if k.sndbuf > 0 {
		if err := c.(*net.TCPConn).SetWriteBuffer(k.sndbuf); err != nil {
			return err
		}
	}
	buf := make([]byte, 29)
	for i := range k.log {
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		k.log[i].read = time.Now()
		time.Sleep(k.think)
		k.log[i].thought = time.Now()
		if _, err := c.Write(make([]byte, k.answer)); err != nil {
			return err
		}
		k.log[i].answered = time.Now()
	}
	if _, err := c.Read(buf); err != io.EOF { // everything is acknowledged then
		return fmt.Errorf("read after the last question: %v", err)
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &k.told); err != nil {
		return err
	}
	told := raw.Control(func(fd uintptr) { k.kernel, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if told != nil {
		return told
	}
	return err
}

// waitLine is a line of waits.
type waitLine struct {
	Turns, Overlap, Unfinished int64
	Conns                      int64
	P50                        float64 `json:"p50_ms"`
	Connecting                 int64   `json:"connecting_ns"`
	AcceptQueue                int64   `json:"accept_queue_ns"`
	AppThinking                int64   `json:"app_thinking_ns"`
	AppNotReading              int64   `json:"app_not_reading_ns"`
	SendBuffer                 int64   `json:"send_buffer_ns"`
	Nagle                      int64   `json:"nagle_ns"`
	Cwnd                       int64   `json:"cwnd_ns"`
	Pacing                     int64   `json:"pacing_ns"`
	PeerWindow                 int64   `json:"peer_window_ns"`
	InFlight                   int64   `json:"in_flight_ns"`
	Recovery                   int64   `json:"recovery_ns"`
	PeerThinking               int64   `json:"peer_thinking_ns"`
	Idle                       int64   `json:"idle_ns"`
}

func waitLines(t *testing.T, out []byte) map[string]waitLine {
	t.Helper()
	var said struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		waitLine
		Service string
	}
	if err := json.Unmarshal(said.Answers[0].Tables[0].Rows, &rows); err != nil {
		t.Fatal(err)
	}
	lines := map[string]waitLine{}
	for _, r := range rows {
		lines[r.Service] = r.waitLine
	}
	return lines
}

// check holds the log of a conversation against the lines of both ends.
func (k *talk) check(t *testing.T, server, client waitLine) {
	t.Helper()
	turns := int64(k.turns)
	if server.Conns != 1 || client.Conns != 1 || server.Turns != turns || client.Turns != turns || server.Unfinished+client.Unfinished+server.Overlap+client.Overlap != 0 {
		t.Errorf("%s: %d turns, seen %d by the server and %d by the client: %+v %+v", k.name, turns, server.Turns, client.Turns, server, client)
	}
	bad := t.Failed()
	defer func() {
		if t.Failed() && !bad {
			t.Logf("%s: the server's line %+v, the client's %+v", k.name, server, client)
		}
	}()
	var thought, unread, idle, nagle, whole, flight bounds
	for _, l := range k.log {
		thought.add(l.thought.Sub(l.read), l.answered.Sub(l.asks))
		unread.add(l.got.Sub(l.answered), l.got.Sub(l.thought))
		whole.add(farWay, l.got.Sub(l.asks))
		flight.add(farWay, l.read.Sub(l.asks)+l.got.Sub(l.thought))
		nagle.add(l.read.Sub(l.asked), l.read.Sub(l.second))
		idle.add(l.next.Sub(l.got), l.next.Sub(l.thought)+time.Millisecond)
	}
	idle.most += k.around
	if k.kernel == nil {
		t.Fatalf("%s: no TCP_INFO", k.name)
	}
	limited := time.Duration(k.kernel.Rwnd_limited) * time.Microsecond
	switch k.name {
	case "server thinks":
		k.near(t, "thinking of the server", thought, server.AppThinking)
		// The least round trip of every turn counts as in flight, however short the way was.
		k.near(t, "thinking of the client's peer", bounds{thought.least - time.Duration(client.InFlight), thought.most}, client.PeerThinking)
	case "client reads late":
		k.near(t, "bytes unread by the client", unread, client.AppNotReading)
	case "client idles":
		k.near(t, "idle at the client", idle, client.Idle)
		k.near(t, "idle at the server", idle, server.Idle)
	case "accepted late":
		k.near(t, "in the accept queue", k.queue, server.AcceptQueue)
	case "far":
		// Both ways take what netem adds, and what this machine takes for a segment.
		k.near(t, "in flight at the client", flight, client.InFlight)
	case "far and lossy":
		// From the first try until the acknowledgement, which is on its way once the question has come to the server.
		came := k.log[0].thought.Sub(k.log[0].asks) - time.Duration(server.AppNotReading+server.AppThinking)
		k.near(t, "recovery at the client", bounds{max(k.lossFor, came+farWay/2), whole.most}, client.Recovery)
	case "small buffer":
		// The kernel's own account begins late, if at all; but the call stands still as long as the buffer is full. A busy
		// machine may let the server go on only after all is acknowledged.
		wrote := k.log[0].answered.Sub(k.log[0].thought)
		k.near(t, "held back by the send buffer", bounds{wrote - time.Duration(server.AppThinking), wrote}, server.SendBuffer)
	case "nagle":
		// The second piece may have come before a busy server read it, or the server have read it before it looked at the
		// clock: its own socket tells both.
		k.near(t, "held back by Nagle", bounds{nagle.least - time.Duration(server.AppNotReading+server.AppThinking), nagle.most}, client.Nagle)
	case "window":
		k.near(t, "held back by the client's window", bounds{limited - tick, limited + tick}, server.PeerWindow) // the kernel counts in ticks
		k.near(t, "held back by pacing, which there is none of", bounds{most: whole.most / 20}, server.Pacing)
	}
}

func (k *talk) near(t *testing.T, what string, want bounds, ns int64) {
	t.Helper()
	if !want.near(ns, k.turns) {
		t.Errorf("%s: %s: %v, the log has %v to %v", k.name, what, time.Duration(ns), want.least, want.most)
	}
	t.Logf("%s: %s: %v, the log has %v to %v", k.name, what, time.Duration(ns), want.least, want.most)
}

// checkAccount: the kernel's own account is in the file as the kernel told it to the program.
func (k *talk) checkAccount(t *testing.T, c *Capture) {
	t.Helper()
	ends := c.Select("tcp_state", func(r *Row) bool {
		return r.Str["new_state"] == "CLOSE" && r.Int["lport"] == int64(k.port) && r.Int["rport"] != 0
	})
	if len(ends) != 1 {
		t.Fatalf("%s: %d ends of the server's connection", k.name, len(ends))
	}
	got := ends[0].Int
	slack := (time.Duration(ends[0].TS-k.told.Nano()) + tick).Microseconds() // its FIN takes its time, too
	busy, window, buffer := int64(k.kernel.Busy_time), int64(k.kernel.Rwnd_limited), int64(k.kernel.Sndbuf_limited)
	if got["busy_us"] < busy || got["busy_us"] > busy+slack || got["rwnd_limited_us"] != window || got["sndbuf_limited_us"] != buffer {
		t.Errorf("%s: busy %d us, held back by the window for %d, by the buffer for %d; the file has %v, %v and %v", k.name, busy, window, buffer,
			got["busy_us"], got["rwnd_limited_us"], got["sndbuf_limited_us"])
	}
	if got["delivered"] < int64(k.turns) || got["reordering"] == 0 {
		t.Errorf("%s: %d segments delivered, reordering %d", k.name, got["delivered"], got["reordering"])
	}
}
