package truth

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"netrec/internal/bench/vmtest/traffic"
	"netrec/schema"
)

// Expect is what a kernel owes.
type Expect struct {
	Missing []string // events that this kernel cannot show
	// Functions can be hooked here, so that nothing excuses the absence of a hook but
	// Absent, which names those that this kernel came too early for.
	Functions bool
	Absent    []string
}

// Check compares a recording with the log of the traffic in it and with the
// kernel's counters. Each name is one thing that was looked at.
func Check(c *Capture, l *traffic.Log, want Expect) map[string]Errors {
	return map[string]Errors{
		"handshakes": checkHandshakes(c, l, want),
		"resets":     checkResets(c, l, want),
		"errors":     checkErrors(c, l, want),
		"protocols":  checkProtocolCalls(c, l, want),
		"marks":      checkMarks(c, l, want),
		"tunnels":    checkTunnels(c, l),
		"echoes":     checkEchoes(c, l, want),

		"account":        checkAccount(c, true),
		"clock":          checkClock(c),
		"hooks":          checkHooks(c, want),
		"syscalls":       checkSyscalls(c, l),
		"makers":         checkMakers(c, l),
		"waits":          checkWaits(c, l),
		"copies":         checkCopies(c, l),
		"rw":             checkReadWrite(c, l),
		"passed":         checkPassed(c, l),
		"execs":          checkExecs(c, l),
		"files":          checkFiles(c, l, want),
		"scans":          checkScans(c, l, want),
		"receive queues": checkReceiveQueues(c, l),
		"memory":         checkMemory(c, l),
		"io":             checkIO(c, l, "sock_io"),
		"counters":       checkCounters(c, l),
		"sessions":       checkSessions(c, l),
		"lookups":        checkLookups(c, l),
		"packets":        checkPackets(c, l, want),
		"context":        checkContext(c),
		"devices":        checkDevices(c, l),
		"disciplines":    checkQueues(c, l, want),
		"irqs":           checkInterrupts(c, l),
		"families":       checkFamilies(c, l, want),
		"offloads":       checkOffloads(c, l, want),
		"samples":        checkSamples(c, l),
	}
}

// checkAccount: generated = recorded + lost for each event and CPU, nothing was lost at
// this pace, and the file has as many rows as the account says. An interrupt may find
// the probe of an event running; some have a second behind their raw tracepoints, and
// then nothing may be missing. System calls have none: since 7.2 their probes can be
// preempted, and other tasks' calls on that CPU are then passed over. The traffic's own
// calls are held against its log one by one.
func checkAccount(c *Capture, second bool) Errors {
	rows := map[place]int64{}
	for _, r := range c.Rows {
		rows[place{r.Event, r.Int["cpu"]}]++
	}
	errs := balance(c.Meta.Losses, rows)
	for _, n := range c.Meta.Losses {
		if ofMachine(c, n.Event) {
			continue
		}
		if n.Lost() != 0 && (n.Lost() != n.Nested || (second && hasSecond(schema.ByName(n.Event)))) {
			errs.add("%s on CPU %d: %d lost, %d of them for an interrupted probe", n.Event, n.CPU, n.Lost(), n.Nested)
		}
	}
	return errs
}

// checkClock: the recording began when every hook was in place, at one moment for all
// events, and ended at one. A call may have begun before; its row says how long before.
func checkClock(c *Capture) Errors {
	var errs Errors
	rec := c.Meta.Recording
	if rec.AttachNS <= 0 || rec.StopNS <= rec.StartNS {
		errs.add("attaching took %d ns; from %d to %d", rec.AttachNS, rec.StartNS, rec.StopNS)
	}
	for _, h := range c.Meta.Hooks {
		if len(h.CameNS) != len(h.Hooks) {
			errs.add("%s: %d hooks, times of %d", h.Event, len(h.Hooks), len(h.CameNS))
			continue
		}
		for i, at := range h.CameNS {
			if at > rec.StartNS || at < rec.StartNS-rec.AttachNS-int64(startFacts) {
				errs.add("%s: %s came %d ns before the start, attaching took %d", h.Event, h.Hooks[i], rec.StartNS-at, rec.AttachNS)
			}
		}
	}
	if c.Meta.FirstNS < rec.StartNS || c.Meta.LastNS > rec.StopNS {
		errs.add("rows from %d to %d, of a recording from %d to %d", c.Meta.FirstNS, c.Meta.LastNS, rec.StartNS, rec.StopNS)
	}
	for _, r := range c.Rows {
		frames := strings.Split(r.Str["kstack"], ";")
		if r.Event == "cpu_sample" && !slices.ContainsFunc(frames, func(f string) bool { return !probeCode.MatchString(f) }) {
			continue // the CPU was in a probe, and no more could be walked
		}
		for _, f := range frames {
			if ownCode.MatchString(f) {
				errs.add("%s: a stack has the recorder's own code: %s", r.Event, r.Str["kstack"])
				return errs
			}
		}
	}
	return errs
}

// ownCode is programs and trampolines, as kallsyms names them; the kernel has functions that
// are called alike.
var ownCode = regexp.MustCompile(`^bpf_(trampoline_[0-9]+|prog_[0-9a-f]{16})`)

// probeCode is that and what the kernel has between a hook and its program.
var probeCode = regexp.MustCompile(`^(bpf_trampoline_|bpf_prog_|bpf_trace_run|__bpf_trace_|__traceiter_|trace_call_bpf)`)

// startFacts is what reading the host's facts between the last hook and the start may take,
// on a slow machine.
const startFacts = 5 * time.Minute

// place is an event on a CPU.
type place struct {
	event string
	cpu   int64
}

// balance holds the account against itself and against the rows.
func balance(account []schema.Count, rows map[place]int64) Errors {
	var errs Errors
	for _, n := range account {
		p := place{n.Event, int64(n.CPU)}
		if n.Generated != n.Recorded+n.Lost() || n.Recorded != rows[p] {
			errs.add("%s on CPU %d: %d generated, %d recorded, %d lost, %d rows", n.Event, n.CPU, n.Generated, n.Recorded, n.Lost(), rows[p])
		}
	}
	if len(account) == 0 {
		errs.add("the recording has no account")
	}
	return errs
}

// ofMachine reports an event that belongs to no namespace, so that no filter keeps others'
// load away from a recording on a machine that has other work: those may be too many.
func ofMachine(c *Capture, event string) bool {
	return len(c.Meta.Recording.Filters) > 0 && (event == "irq" || event == "softirq")
}

// hasSecond reports an event that the ladder gives a second program.
func hasSecond(e *schema.Event) bool {
	return slices.ContainsFunc(e.Ladder, func(r schema.Rung) bool {
		return slices.ContainsFunc(r, func(h schema.Hook) bool { return h.Again })
	})
}

// checkSessions follows each TCP client of the log through its states and compares
// the bytes that the kernel says it moved with what the calls did.
func checkSessions(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	checked, refused := 0, 0
	for _, s := range l.Sockets {
		if s.Type != "stream" || s.Family == "unix" || s.Role != "client" || s.Local == "" {
			continue
		}
		states := c.Select("tcp_state", ofRun(l), func(r *Row) bool {
			return plain(address(r, "laddr", "lport")) == plain(s.Local) && plain(address(r, "raddr", "rport")) == plain(s.Remote)
		})
		if len(states) == 0 {
			refused++ // then the kernel took its address back before the log could see it
			continue
		}
		closed := slices.IndexFunc(states, func(r Row) bool { return r.Str["new_state"] == "CLOSE" })
		if closed < 0 {
			if !slices.ContainsFunc(l.Lingering, func(x string) bool { return strings.Contains(x, s.Local) }) {
				errs.add("socket %d (%s %s): no change to CLOSE among %d changes of state", s.Index, s.Kind, s.Local, len(states))
			}
			continue
		}
		errs = append(errs, checkBytes(s, states, &states[closed])...)
		checked++
	}
	if checked == 0 {
		errs.add("no session was checked")
	}
	const econnrefused = 111
	rows := c.Select("tcp_state", ofRun(l), Is("old_state", "SYN_SENT"), Is("new_state", "CLOSE"), Num("sk_err", econnrefused))
	if n := l.Wanted["refused"]; len(rows) != n || refused != n {
		errs.add("tcp_state: %d rows of refused connects, %d sockets without a session, %d were refused", len(rows), refused, n)
	}
	return errs
}

// checkBytes holds what the kernel counted of a client until its end against what its calls did.
// Its SYN is a byte to the kernel, and so is a FIN; what was in flight at a reset is none.
func checkBytes(s *traffic.Socket, states []Row, end *Row) (errs Errors) {
	sent, received := end.Int["bytes_acked"]-1, end.Int["bytes_received"]-end.Int["tcp_flags"]
	if last := end.Str["old_state"]; last == "FIN_WAIT2" || last != "FIN_WAIT1" && !aborted(states) && end.Int["sk_err"] == 0 {
		sent--
	}
	if extra := sent - int64(s.Sent); extra > 0 || extra < 0 && !aborted(states) {
		errs.add("socket %d (%s %s): %d bytes acknowledged, %d sent", s.Index, s.Kind, s.Local, sent, s.Sent)
	}
	if extra := received - int64(s.Received); extra < 0 || extra > 0 && !aborted(states) && !unread(s) {
		errs.add("socket %d (%s %s): %d bytes received, %d read", s.Index, s.Kind, s.Local, received, s.Received)
	}
	return errs
}

// plain drops the mapping of IPv4 into IPv6, which log and row may write differently.
func plain(a string) string {
	return strings.Replace(strings.Replace(a, "[::ffff:", "", 1), "]", "", 1)
}

// aborted reports a session that did not end by FIN.
func aborted(states []Row) bool {
	return !slices.ContainsFunc(states, func(r Row) bool {
		return r.Str["new_state"] == "LAST_ACK" || r.Str["new_state"] == "FIN_WAIT2"
	})
}

// unread reports a socket that was closed with data waiting, so that fewer bytes were
// read than came.
func unread(s *traffic.Socket) bool {
	return !slices.ContainsFunc(s.Calls, func(c traffic.Call) bool {
		return receives[c.Name] && c.Errno == "" && c.Return == 0
	})
}

func checkLookups(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	for _, k := range l.Lookups {
		for fn, n := range k.Calls {
			if rows := c.Select("dns_call", Num("pid", int64(k.PID)), Is("func", fn), Is("host", k.Name), Is("host_end", k.Name)); len(rows) != n {
				errs.add("dns_call: %d rows of %s(%s) in process %d, which called it %d times", len(rows), fn, k.Name, k.PID, n)
			}
		}
	}
	for _, r := range c.Select("dns_call") {
		if !strings.Contains(r.Str["lib"], "libc") || r.Int["dur_ns"] <= 0 {
			errs.add("dns_call of %s: library %q, %d ns", r.Str["host"], r.Str["lib"], r.Int["dur_ns"])
		}
	}
	return errs
}

// ordinaryDrops are the reasons of which only a share has a stack.
var ordinaryDrops = []string{"QUEUE_PURGE", "NOT_SPECIFIED", "CONSUMED", "SKB_CONSUMED"}

// checkPackets looks at what has no counter of its own: that the fields make sense.
func checkPackets(c *Capture, l *traffic.Log, want Expect) Errors {
	var errs Errors
	for event, ok := range map[string]func(*Row) bool{
		"tcp_rcv_est":    func(r *Row) bool { return r.Int["snd_cwnd"] > 0 && r.Int["sk_sndbuf"] > 0 && r.Str["ca_state"] != "" },
		"tcp_write_xmit": func(r *Row) bool { return (r.Int["ret"] == 0 || r.Int["ret"] == 1) && r.Int["mss_bytes"] > 0 },
		"skb_alloc":      func(r *Row) bool { return r.Int["skb"] != 0 && r.Str["func"] != "" },
		"skb_consume":    func(r *Row) bool { return r.Int["skb"] != 0 },
		"skb_drop": func(r *Row) bool {
			stacked := len(strings.Split(r.Str["kstack"], ";")) > 3 || r.Str["kstack"] == "" && slices.Contains(ordinaryDrops, r.Str["drop_reason"])
			return r.Int["skb"] != 0 && r.Str["location"] != "" && stacked
		},
	} {
		if slices.Contains(want.Missing, event) {
			continue
		}
		rows := c.Select(event, Between(l.Begin, l.End))
		if len(rows) == 0 {
			errs.add("%s: no rows", event)
		}
		for _, r := range rows {
			if !ok(&r) {
				errs.add("%s: a row that cannot be: %v %v", event, r.Int, r.Str)
				break
			}
		}
	}
	return errs
}

// checkContext: system calls happen in tasks, and some packets in interrupts.
func checkContext(c *Capture) Errors {
	var errs Errors
	softirq := 0
	for _, r := range c.Rows {
		if strings.HasPrefix(r.Event, "sys_") && r.Str["ctx"] != "task" {
			errs.add("%s in context %s", r.Event, r.Str["ctx"])
			break
		}
		if r.Str["ctx"] == "softirq" {
			softirq++
		}
	}
	if softirq == 0 {
		errs.add("no row came from an interrupt")
	}
	return errs
}
