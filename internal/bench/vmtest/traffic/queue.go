package traffic

import (
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Queue is a time during which a device had a queueing discipline, and what that
// counted.
type Queue struct {
	Kind   string `json:"kind"`
	Handle int    `json:"handle"` // as the kernel has it, with the minor number in the lower half
	Device string `json:"device"`
	Side   Side   `json:"side"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
	// Sent and Dropped are packets by the discipline's own counters.
	Sent    int `json:"sent"`
	Dropped int `json:"dropped"`
	// Bypass: the kernel hands packets past this kind while its queue is empty; they
	// count as sent all the same.
	Bypass bool `json:"bypass,omitempty"`
	// Inner: it lies below another, from which it gets packets and which takes them.
	Inner bool `json:"inner,omitempty"`
}

// queues sends datagrams through one discipline after the other, each at the root of a
// device and below another, and at last bursts through some that cannot hold them.
func (w *worker) queues() {
	if w.link.names[A] == "" {
		return // this machine's own devices are not to be changed
	}
	q := w.newQueuer()
	defer q.end()
	steady := func() { q.send(w.want["queued"], w.size(900)) }
	short := []discipline{{make: "tbf rate 100kbit burst 3000 limit 5000", small: true}, {make: "netem delay 1s limit 7"}}
	burst := func() { q.send(w.want["burst"], 701) }
	for i, d := range slices.Concat(disciplines, short) {
		traffic := steady
		if i >= len(disciplines) {
			traffic = burst
		}
		if q.dev != "lo" || d.small {
			q.run(d, false, traffic)
		}
		if q.dev != "lo" && !d.root {
			q.run(d, true, traffic)
		}
	}
}

// queuer sends datagrams through the queues of a device. They are received only on
// loopback; the other device throws away all that its driver gets.
type queuer struct {
	w              *worker
	dev            string
	client, server *socket
	handle         int // the last one given away
}

func (w *worker) newQueuer() *queuer {
	q := &queuer{w: w, dev: "lo", handle: 0xf}
	if w.link.veth {
		q.dev = deviceQueues
		q.client = w.open("client", A, unix.AF_INET, unix.SOCK_DGRAM)
		to := netip.AddrPortFrom(queuesPeer, portUDP)
		q.client.must(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) {
			return sysConnect(q.client.fd, rawAddr(to, q.client.Family))
		})
		return q
	}
	q.server, q.client = w.bound("4", portUDP), w.connected("4", portUDP)
	q.server.setInt(unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20)
	return q
}

func (q *queuer) send(count, size int) {
	for range count {
		q.client.send("sendto", make([]byte, size))
	}
}

// run puts a discipline in place, has traffic made through it, and waits for its end.
func (q *queuer) run(d discipline, inner bool, traffic func()) {
	q.handle++
	parent := 0
	if inner {
		q.handle++
		parent = q.handle - 1
	}
	commands := d.commands(q.dev, q.handle, parent)
	if err := batch(q.w.link.names[A], commands); err != nil {
		q.w.log.Degraded = append(q.w.log.Degraded, fmt.Sprintf("queues: %s: %v", strings.Join(commands, "; "), err))
		return
	}
	entry := Queue{Kind: d.kind(), Handle: q.handle << 16, Device: q.dev, Side: A, Bypass: d.bypass && !inner, Inner: inner, Begin: now()}
	traffic()
	var after queueStats // counted when a packet leaves the queue
	q.w.until("the queue to be empty", func() bool { after = q.stats(); return after.Qlen == 0 })
	time.Sleep(5 * time.Millisecond) // what left the queue last is on its way
	entry.End = now()
	entry.Sent, entry.Dropped = after.Packets, after.Drops
	q.w.log.Queues = append(q.w.log.Queues, entry)
	if q.server == nil {
		return
	}
	for {
		if _, errno := q.server.tryReceive("recvfrom", make([]byte, 2048), unix.MSG_DONTWAIT); errno != 0 {
			q.server.expect(errno, unix.EAGAIN)
			return
		}
	}
}

// end makes the device as it was.
func (q *queuer) end() {
	_ = command("tc", "-n", q.w.link.names[A], "qdisc", "del", "dev", q.dev, "root") // none may have been put there
	q.client.close()
	if q.server != nil {
		q.server.close()
	}
}

// batch has one tc run many commands.
func batch(ns string, commands []string) error {
	cmd := exec.Command("tc", "-n", ns, "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running tc: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// queueStats is what tc says of a discipline.
type queueStats struct {
	Packets, Drops, Qlen int
}

// stats are the counters of the newest discipline. Another program reads them, so that
// this thread makes no calls that nobody expects.
func (q *queuer) stats() queueStats {
	text := output("tc", "-n", q.w.link.names[A], "-s", "qdisc", "show", "dev", q.dev)
	st, err := parseQueueStats(text, fmt.Sprintf("%x:", q.handle))
	if err != nil {
		q.w.fail("reading what tc says of %s: %w", q.dev, err)
	}
	return st
}

// parseQueueStats finds a handle in tc's text; its JSON is broken for some kinds.
func parseQueueStats(text, handle string) (queueStats, error) {
	var st queueStats
	var bytes int
	var backlog string
	here := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "qdisc":
			here = f[2] == handle
		case here && strings.HasPrefix(line, " Sent "):
			if _, err := fmt.Sscanf(line, " Sent %d bytes %d pkt (dropped %d,", &bytes, &st.Packets, &st.Drops); err != nil {
				return st, fmt.Errorf("line %q: %w", line, err)
			}
		case here && strings.HasPrefix(line, " backlog "):
			if _, err := fmt.Sscanf(line, " backlog %s %dp", &backlog, &st.Qlen); err != nil {
				return st, fmt.Errorf("line %q: %w", line, err)
			}
			return st, nil
		}
	}
	return st, fmt.Errorf("no handle %s in %q", handle, text)
}
