package truth

import (
	"slices"
	"strings"

	"netrec/internal/bench/vmtest/traffic"
)

// checkQueues holds enqueued, dequeued and dropped packets against the counters of
// each queueing discipline.
func checkQueues(c *Capture, l *traffic.Log, want Expect) Errors {
	var errs Errors
	if len(l.Queues) == 0 {
		errs.add("no discipline was tried")
	}
	drops, short, all := 0, 0, 0
	for _, q := range l.Queues {
		es, missing := checkQueue(c, l, q)
		errs, short, all = append(errs, es...), short+missing, all+2*q.Sent
		window := c.Select("qdisc_drop", Between(q.Begin, q.End), Is("dev", q.Device), ofRun(l))
		if len(window) != q.Dropped && !slices.Contains(want.Missing, "qdisc_drop") {
			errs.add("qdisc_drop: %d packets of %s, which dropped %d", len(window), q.Kind, q.Dropped)
		}
		drops += q.Dropped
	}
	if drops == 0 {
		errs.add("no discipline dropped anything")
	}
	if short*mostShort > all {
		errs.add("disciplines by kprobes: %d of %d packets have no row", short, all)
	}
	return errs
}

// mostShort: kprobes may miss one of so many packets. The kernel runs none while it is in
// another's handler; an interrupt may come there, and with it a whole queue's packets at
// once. Kernels that need kprobes here do not count that.
const mostShort = 100

// checkQueue looks at one discipline. A function sees all packets that it is given, those
// that it then refuses too; the tracepoints see what the root of a device took. Where the
// kernel hands packets past a queue, only what was put in can be told to come out.
//
// It also gives how many packets kprobes have not seen.
func checkQueue(c *Capture, l *traffic.Log, q traffic.Queue) (errs Errors, missing int) {
	in := []func(*Row) bool{Between(q.Begin, q.End), Is("dev", q.Device), Is("qdisc_kind", q.Kind),
		Num("qdisc_handle", int64(q.Handle)), Num("netns", int64(l.Namespaces[q.Side].Inode))}
	byEnqueue, byDequeue := byFunction(c, "qdisc_enq", q.Kind), byFunction(c, "qdisc_deq", q.Kind)
	given, taken := q.Sent, q.Sent
	if byEnqueue {
		given += q.Dropped
	}
	if q.Inner && !byEnqueue {
		given = 0
	}
	if q.Inner && !byDequeue {
		taken = 0
	}
	enq, deq := len(c.Select("qdisc_enq", in...)), 0
	for _, r := range c.Select("qdisc_deq", in...) {
		deq += int(r.Int["packets"])
	}
	exact := enq == given && deq == taken
	if q.Bypass {
		exact = enq <= given && deq == enq-(given-taken)
	}
	if kprobed := hookOf(c, "qdisc_enq", q.Kind) == "kprobe" || hookOf(c, "qdisc_deq", q.Kind) == "kprobe"; kprobed && !exact {
		exact = enq <= given && deq <= taken
		if missing = given - enq + taken - deq; q.Bypass { // what came in must come out
			missing = max(given-enq-(taken-deq), taken-deq-(given-enq))
		}
	}
	if !exact {
		errs.add("discipline %s (inner: %t) sent %d packets and dropped %d: %d rows of qdisc_enq, want %d, and %d dequeued, want %d",
			q.Kind, q.Inner, q.Sent, q.Dropped, enq, given, deq, taken)
	}
	if byFunction(c, "qdisc_enq", "tbf") && !byEnqueue || byFunction(c, "qdisc_deq", "tbf") && !byDequeue && !strings.Contains(q.Kind, "fifo") {
		errs.add("discipline %s: its functions are not hooked, others' are", q.Kind)
	}
	return errs, missing
}

// byFunction says whether the functions of a kind are hooked; else there is the tracepoint
// for the root of a device.
func byFunction(c *Capture, event, kind string) bool { return hookOf(c, event, kind) != "" }

// hookOf is the mechanism by which the function of a kind is hooked, "" if it is not.
func hookOf(c *Capture, event, kind string) string {
	word := map[string]string{"qdisc_enq": "enqueue", "qdisc_deq": "dequeue"}[event]
	names := []string{kind + "_" + word, kind + "_qdisc_" + word, kind + "_" + word + "_timesortedlist"}
	if kind == "pfifo_head_drop" {
		names = append(names, "pfifo_tail_enqueue")
	}
	for _, h := range c.Meta.Hooks {
		for _, hook := range h.Hooks {
			mechanism, function, _ := strings.Cut(hook, ":")
			if h.Event == event && slices.Contains(names, function) {
				return mechanism
			}
		}
	}
	return ""
}
