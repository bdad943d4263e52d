package traffic

import (
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Queue is a time during which a device had one queueing discipline, and what that
// counted.
type Queue struct {
	Kind   string `json:"kind"`
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
}

// disciplines are the kinds that are tried. Those that a kernel lacks are left out.
var disciplines = []struct {
	args   []string
	bypass bool
}{
	{args: []string{"fq"}},
	{args: []string{"fq_codel"}, bypass: true},
	{args: []string{"codel"}, bypass: true},
	{args: []string{"red", "limit", "400000", "min", "30000", "max", "90000", "avpkt", "1000", "burst", "55", "bandwidth", "100mbit"}},
	{args: []string{"tbf", "rate", "100mbit", "burst", "100kb", "latency", "100ms"}},
	{args: []string{"htb"}},
	{args: []string{"prio"}},
	{args: []string{"sfq"}, bypass: true},
	{args: []string{"cake"}},
	{args: []string{"netem", "delay", "1ms"}},
	{args: []string{"pfifo_fast"}, bypass: true},
}

// loadDisciplines loads the kinds before a recorder looks which functions there are. Some
// are no modules, or unknown to a kernel.
func loadDisciplines() {
	for _, d := range disciplines {
		_ = command("modprobe", "sch_"+d.args[0])
	}
}

// queues sends datagrams through one discipline after the other, and at last a burst
// through one that cannot hold it.
func (w *worker) queues() {
	if w.link.names[A] == "" {
		return // this machine's own devices are not to be changed
	}
	defer w.unqueue()
	for _, d := range disciplines {
		w.queue(d.args, d.bypass, func(s, c *socket) {
			for range w.want["queued"] {
				n := w.size(900)
				c.send("sendto", make([]byte, n))
				s.expectDatagram("recvfrom", n, n)
			}
		})
	}
	w.queue([]string{"tbf", "rate", "2mbit", "burst", "3000", "limit", "5000"}, false, func(_, c *socket) {
		for range w.want["burst"] {
			c.send("sendto", make([]byte, 701))
		}
	})
}

// queueDevice is where side A's packets for B leave.
func (w *worker) queueDevice() string {
	if w.link.veth {
		return deviceA
	}
	return "lo"
}

// queue puts a discipline in place and has traffic made through it.
func (w *worker) queue(args []string, bypass bool, run func(server, client *socket)) {
	tc := append([]string{"-n", w.link.names[A], "qdisc", "replace", "dev", w.queueDevice(), "root"}, args...)
	if err := command("tc", tc...); err != nil {
		w.log.Degraded = append(w.log.Degraded, "queues: "+err.Error())
		return
	}
	s, c := w.bound("4", portUDP), w.connected("4", portUDP)
	q := Queue{Kind: args[0], Device: w.queueDevice(), Side: A, Bypass: bypass}
	before := w.queueStats(args[0])
	q.Begin = now()
	run(s, c)
	w.until("the queue to be empty", func() bool { return w.queueStats(args[0]).Backlog == 0 })
	time.Sleep(20 * time.Millisecond) // what left the queue last is on its way
	q.End = now()
	after := w.queueStats(args[0])
	q.Sent, q.Dropped = after.Packets-before.Packets, after.Drops-before.Drops
	w.log.Queues = append(w.log.Queues, q)
	c.close()
	s.close()
}

// unqueue makes the link as it was.
func (w *worker) unqueue() {
	if w.link.netem {
		w.reshape("delay", delayA)
		return
	}
	_ = command("tc", "-n", w.link.names[A], "qdisc", "del", "dev", w.queueDevice(), "root") // none may have been put there
}

// queueStats is what tc says of a discipline.
type queueStats struct {
	Kind    string `json:"kind"`
	Root    bool   `json:"root"`
	Packets int    `json:"packets"`
	Drops   int    `json:"drops"`
	Backlog int    `json:"backlog"`
}

// queueStats are the counters of the root discipline, as tc shows them. Another
// program reads them, so that this thread makes no calls that nobody expects.
func (w *worker) queueStats(kind string) queueStats {
	var list []queueStats
	text := output("tc", "-n", w.link.names[A], "-s", "-j", "qdisc", "show", "dev", w.queueDevice())
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		w.fail("reading what tc says of %s: %w", kind, err)
	}
	for _, q := range list {
		if q.Kind == kind && q.Root {
			return q
		}
	}
	w.fail("reading what tc says of %s: %w", kind, fmt.Errorf("not at the root of %s: %w", w.queueDevice(), unix.ENOENT))
	return queueStats{}
}
