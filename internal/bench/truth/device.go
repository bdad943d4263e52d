package truth

import (
	"slices"
	"strconv"
	"strings"

	"netrec/internal/bench/vmtest/traffic"
	"netrec/schema"
)

// span is a time of which the edges are not known exactly: a counter was read between
// outer and inner edge.
type span struct{ from, begin, end, to int64 }

// count is how much a counter must have grown at least, by what lies surely inside,
// and at most.
func (s span) count(at []int64) (lo, hi int) {
	for _, t := range at {
		if t >= s.begin && t <= s.end {
			lo++
		}
		if t >= s.from && t <= s.to {
			hi++
		}
	}
	return lo, hi
}

// nested is how many events of a kind the kernel hid because their probe was running.
func nested(c *Capture, event string) int {
	n := 0
	for _, l := range c.Meta.Losses {
		if l.Event == event {
			n += int(l.Nested)
		}
	}
	return n
}

// lostRows is how many events of a kind happened and are not in the file.
func lostRows(c *Capture, event string) int {
	n := 0
	for _, l := range c.Meta.Losses {
		if l.Event == event {
			n += int(l.Lost())
		}
	}
	return n
}

func times(rows []Row, start bool) []int64 {
	at := make([]int64, len(rows))
	for i := range rows {
		at[i] = rows[i].TS
		if start {
			at[i] -= rows[i].Int["dur_ns"]
		}
	}
	return at
}

// checkDevices holds packets sent and received against the devices' own counters.
func checkDevices(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	if len(l.Phases) == 0 {
		return Errors{"the traffic had no phases"}
	}
	run := span{l.Begin, l.Phases[0].Begin, l.Phases[len(l.Phases)-1].End, l.End}
	sides := []traffic.Side{traffic.A, traffic.B}
	if l.Namespaces[traffic.A].Inode == l.Namespaces[traffic.B].Inode {
		sides = sides[:1]
	}
	seen := 0
	for _, side := range sides {
		counts := l.Counters[side]
		netns := Num("netns", int64(l.Namespaces[side].Inode))
		for name := range counts.After {
			dev, ok := strings.CutSuffix(strings.TrimPrefix(name, "Dev."), ".tx_packets")
			if !ok {
				continue
			}
			sent := counts.Delta(name) + counts.Delta("Dev."+dev+".tx_dropped")
			got := counts.Delta("Dev." + dev + ".rx_packets")
			seen += sent
			for event, n := range map[string]int{"dev_start_xmit": sent, "dev_xmit": sent, "dev_recv": got} {
				rows := c.Select(event, netns, Is("dev", dev), func(r *Row) bool { return r.Int["rc"] == 0 })
				if event == "dev_recv" && dev == offloadReceiver {
					rows = append(rows, merged(c, l, side)...) // came as packets of their own
				}
				if lo, hi := run.count(times(rows, false)); n < lo || n > hi+nested(c, event) {
					errs.add("%s: %d to %d rows of %s on side %s, the device counted %d", event, lo, hi, dev, side, n)
				}
			}
		}
	}
	if seen == 0 {
		errs.add("no device sent anything")
	}
	return append(errs, checkFrames(c, l)...)
}

// checkFrames: every packet that was queued has a length and a device.
func checkFrames(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	for _, event := range []string{"dev_queue", "dev_start_xmit", "dev_xmit", "dev_recv"} {
		rows := c.Select(event, ofRun(l))
		if len(rows) == 0 {
			errs.add("%s: no rows", event)
		}
		for _, r := range rows {
			if r.Int["skb"] == 0 || r.Int["len_bytes"] <= 0 || r.Int["ifindex"] <= 0 || (event != "dev_xmit" && r.Str["ethertype"] == "") {
				errs.add("%s: a row that cannot be: %v %v", event, r.Int, r.Str)
				break
			}
		}
	}
	return errs
}

// checkInterrupts holds runs of softirqs and of devices' handlers against the kernel's
// counts. The kernel counts a moment before the probe sees the start. An interrupt may be
// counted without its handler being run, so for devices the count is only a limit.
func checkInterrupts(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	if len(l.Interrupts) != 2 {
		return Errors{"interrupts were not counted at start and end"}
	}
	const moment = 200e6 // ns; a virtual CPU may stand still between count and probe
	a, b := l.Interrupts[0], l.Interrupts[1]
	run := span{a.Begin, a.End + moment, b.Begin, b.End + moment}
	softirqs := 0
	for name, after := range b.Counts {
		rows, soft := c.Select("softirq", Is("vector", name)), true
		if _, err := strconv.Atoi(name); err == nil {
			number, _ := strconv.ParseInt(name, 10, 64)
			rows, soft = c.Select("irq", Num("irq", number)), false
		} else if !slices.ContainsFunc(schema.Softirqs.Values, func(v schema.EnumValue) bool { return v.Name == name }) {
			continue // of the CPU itself: timer, rescheduling
		} else {
			softirqs += len(rows)
		}
		n := after - a.Counts[name]
		if lo, hi := run.count(times(rows, true)); n < lo || soft && n > hi+lostRows(c, "softirq") {
			errs.add("interrupt %s: %d to %d rows, the kernel counted %d", name, lo, hi, n)
		}
	}
	if softirqs == 0 {
		errs.add("softirq: no rows")
	}
	return errs
}
