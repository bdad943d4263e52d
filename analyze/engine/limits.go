package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/scan"
	"netrec/analyze/words"
	"netrec/schema"
)

// exact is said of an answer that nothing limits.
const exact = "exact: nothing was lost and every hook it uses was attached"

// limits lists what keeps the answer from being exact, most serious first.
func (in *Input) limits(sel *Selection) []string {
	ls := slices.Clone(in.Meta.Problems)
	if len(in.Meta.Hooks) == 0 {
		ls = append(ls, "the file does not say which hooks were attached or what was lost")
	}
	events := in.events()
	for _, e := range events {
		if l := lossOf(in.Meta, e, sel); l != "" {
			ls = append(ls, l)
		}
	}
	ls = append(ls, in.sampled()...)
	ls = append(ls, in.lacks()...)
	for _, e := range events {
		if l := fallback(in.Meta, e); l != "" && in.shows(e) {
			ls = append(ls, l)
		}
	}
	ls = append(ls, in.late(events)...)
	for _, u := range in.needs {
		ls = append(ls, unseen(in.Meta, u.event)...)
	}
	for _, e := range events {
		if l := missed(in.Meta, e); l != "" && in.handles(e) {
			ls = append(ls, "not seen, no hook attached: "+l)
		}
	}
	for _, e := range events {
		if n := waiting(in.Meta, e); n > 0 && in.handles(e) {
			ls = append(ls, fmt.Sprintf("%s: missing up to %s receives that were already waiting when the recording began", e, Thousands(n)))
		}
	}
	ls = append(ls, in.blindQueues()...)
	if n := in.olderSockets(); n > 0 && in.older != "" {
		ls = append(ls, fmt.Sprintf("sockets older than the recording: %s: %s", Thousands(int64(n)), in.older))
	}
	ls = append(ls, clockStep(in.Meta.Clock)...)
	ls = append(ls, filters(in.Meta)...)
	return ls
}

// lacks lists the events that the answer would be better with; those that nobody
// asked for are one line where they cost the same.
func (in *Input) lacks() []string {
	if in.always {
		return nil
	}
	var ls, costs []string
	unasked := map[string][]string{}
	for _, u := range in.uses {
		p := present(in.Meta, u.event)
		switch {
		case u.without == "":
		case p.status == HookMissing:
			ls = appendNew(ls, p.why+"; without it "+u.without)
		case p.status == NotRecorded:
			costs = appendNew(costs, u.without)
			unasked[u.without] = appendNew(unasked[u.without], u.event)
		}
	}
	for _, c := range costs {
		ls = append(ls, "not recorded: "+strings.Join(unasked[c], ", ")+"; without it "+c)
	}
	return ls
}

// shows reports whether rows of an event are in the answer, and not read only because they
// may say who a socket is.
func (in *Input) shows(event string) bool {
	return slices.ContainsFunc(slices.Concat(in.needs, in.uses), func(u use) bool { return u.event == event && (u.handler != nil || u.without != "") })
}

// events lists every event the analysis handles, once.
func (in *Input) events() []string {
	var es []string
	for _, u := range slices.Concat(in.needs, in.uses) {
		es = appendNew(es, u.event)
	}
	return es
}

func lossOf(m *scan.Meta, event string, sel *Selection) string {
	var sum schema.Count
	for _, c := range m.Losses {
		if c.Event == event {
			sum.Add(c)
		}
	}
	if e := schema.ByName(event); e != nil && e.Counts() {
		return lossOfCalls(event, sum, sel)
	}
	return lossText(event+" events", sum.Lost(), sum.Generated, sel, causes(sum))
}

// lossOfCalls keeps apart what an event that counts has lost: calls that no counter saw, and
// rows, each of which has the calls of a second.
func lossOfCalls(event string, sum schema.Count, sel *Selection) string {
	rows := sum
	rows.Nested, rows.Generated = 0, sum.Generated-sum.Nested
	ls := []string{lossText("rows of "+event, rows.Lost(), rows.Generated, sel, causes(rows))}
	if calls := (schema.Count{Nested: sum.Nested}); sum.Calls > 0 {
		ls = append(ls, lossText("calls that "+event+" counts", sum.Nested, sum.Calls+sum.Nested, sel, causes(calls)))
	} else if sum.Nested > 0 { // of older files nobody knows how many there were
		ls = append(ls, fmt.Sprintf("lost %s calls that %s counts: %s", Thousands(sum.Nested), event, causes(calls)))
	}
	return strings.Join(slices.DeleteFunc(ls, func(s string) bool { return s == "" }), "; ")
}

func lossText(what string, lost, of int64, sel *Selection, causes string) string {
	if lost == 0 {
		return ""
	}
	where := ""
	if sel.From != 0 || sel.To != 0 {
		where = " in the whole recording"
	}
	return fmt.Sprintf("lost %s of %s %s (%s %%)%s: %s", Thousands(lost), Thousands(of), what, percent(lost, of), where, causes)
}

// causes says what was lost how.
func causes(sum schema.Count) string {
	var out []string
	for _, c := range []struct {
		n    int64
		what string
	}{{sum.Ring, "ring full"}, {sum.Scratch, "too many calls in flight"}, {sum.Writer, "not written to the file"},
		{sum.Nested, "interrupted probe, at most"}} {
		if c.n > 0 {
			out = append(out, c.what+" "+Thousands(c.n))
		}
	}
	return strings.Join(out, ", ")
}

// percent is a share with as many digits as it needs not to read as none or all.
func percent(part, whole int64) string {
	if whole == 0 {
		return "?"
	}
	p := 100 * float64(part) / float64(whole)
	for digits := 1; ; digits++ {
		s := strconv.FormatFloat(p, 'f', digits, 64)
		if v, err := strconv.ParseFloat(s, 64); digits == 6 || err == nil && v != 0 && (v < 100 || part == whole) {
			return s
		}
	}
}

// fallback says if an event was seen through another hook than the first choice.
func fallback(m *scan.Meta, event string) string {
	e := schema.ByName(event)
	if e == nil || e.Own() {
		return ""
	}
	for _, h := range m.Hooks {
		if h.Event != event || h.State != schema.HookAttached || len(h.Hooks) == 0 {
			continue
		}
		first := e.Ladder[0][0].String()
		if slices.Contains(h.Hooks, first) {
			return ""
		}
		for _, r := range h.Refused {
			if r.Hook == first {
				return fmt.Sprintf("event %s seen through %s (%s: %s)", event, shorten(h.Hooks), first, r.Why)
			}
		}
		return fmt.Sprintf("event %s seen through %s", event, shorten(h.Hooks))
	}
	return ""
}

// unseen says what no hook of an event can show, and from when on those in libraries did.
func unseen(m *scan.Meta, event string) (ls []string) {
	e := schema.ByName(event)
	if e == nil || e.Unseen == "" {
		return nil
	}
	if e.Libraries() {
		late, blind, last := 0, []string{}, int64(0)
		for _, lib := range m.Recording.Libraries {
			if text := lib.Blind(); text != "" {
				ls = append(ls, "calls not recorded in "+text)
			}
			switch {
			case !lib.Probed && lib.Refused == nil:
				blind = appendNew(blind, lib.Path)
			case lib.Late:
				late, last = late+1, max(last, lib.SinceNS)
			}
		}
		if len(blind) > 0 {
			ls = append(ls, "not probed: "+strings.Join(blind, ", ")+"; netrec record --dns-follow probes libraries of containers that start during the recording")
		}
		if late > 0 {
			ls = append(ls, fmt.Sprintf("libraries that appeared during the recording: %d; their first calls, before the probes were attached, are missing", late)+since(m, ", complete since ", last))
		}
	}
	return append(ls, event+" does not see "+e.Unseen)
}

// late says where events came to be seen after the start, or not at all: what came during
// the recording had no hook before.
func (in *Input) late(events []string) (ls []string) {
	for _, l := range in.Meta.Recording.Late {
		if !slices.Contains(events, l.Event) {
			continue
		}
		if l.Why != "" {
			ls = appendNew(ls, fmt.Sprintf("%s not recorded on %s, which appeared%s: %s", l.Event, l.Place, since(in.Meta, " at ", l.SinceNS), l.Why))
		} else {
			ls = appendNew(ls, fmt.Sprintf("%s recorded on %s only%s: hook attached late", l.Event, l.Place, since(in.Meta, " since ", l.SinceNS)))
		}
	}
	return ls
}

// blindQueues says which queueing disciplines the hooks cannot see: inside others each is seen
// by hooks at its own functions alone.
func (in *Input) blindQueues() (ls []string) {
	for _, h := range in.Meta.Hooks {
		asks := func(u use) bool { return u.event == h.Event }
		if h.State != schema.HookAttached || !slices.ContainsFunc(in.needs, asks) &&
			!slices.ContainsFunc(in.uses, func(u use) bool { return asks(u) && u.without != "" }) || !ofQueues(schema.ByName(h.Event)) {
			continue
		}
		tracepoint := slices.ContainsFunc(h.Hooks, func(s string) bool { return strings.HasPrefix(s, "raw_tp:") })
		functions := slices.ContainsFunc(h.Hooks, func(s string) bool { return !strings.HasPrefix(s, "raw_tp:") })
		if !functions {
			ls = appendNew(ls, "queueing disciplines inside others are not seen: this kernel has no hooks at their functions")
		}
		for _, m := range in.Meta.Recording.Modules {
			seen := "its queues are not seen"
			if tracepoint {
				seen = "its queues are seen only at the root of a device"
			}
			if functions {
				ls = appendNew(ls, fmt.Sprintf("%s was loaded %.1f s into the recording: %s", m.Name, float64(m.SinceNS-in.Start())/1e9, seen))
			}
		}
	}
	return ls
}

// ofQueues reports whether an event is seen in the functions of queueing disciplines. Those that
// the recorder writes itself have no hooks, whatever a file says.
func ofQueues(e *schema.Event) bool {
	return e != nil && !e.Own() && slices.ContainsFunc(e.Ladder[0], func(h schema.Hook) bool { return strings.HasPrefix(h.Target, "Qdisc_ops:") })
}

// since is a moment of the recording as its reader counts, "" for one that is not known.
func since(m *scan.Meta, word string, ns int64) string {
	start := m.Start()
	if ns == 0 || ns < start {
		return ""
	}
	return fmt.Sprintf("%s%.1f s", word, float64(ns-start)/1e9)
}

func (in *Input) olderSockets() int {
	n := 0
	for _, s := range in.Meta.Sockets {
		if s.State != "LISTEN" && s.State != "CLOSE" {
			n++
		}
	}
	return n
}

// clockStep says if the host's clock left the one of the events while the recording ran.
// Slewing, by which time is kept, changes its pace by at most 500 in a million.
func clockStep(anchors []schema.Anchor) []string {
	if len(anchors) < 2 {
		return nil
	}
	a, b := anchors[0], anchors[len(anchors)-1]
	mono := b.Mono - a.Mono
	step := time.Duration(b.Wall - a.Wall - mono)
	if step.Abs() <= time.Duration(mono/2000+a.Jitter+b.Jitter).Abs()+10*time.Millisecond {
		return nil
	}
	way := "ahead of"
	if step < 0 {
		way = "behind"
	}
	return []string{fmt.Sprintf("the host's clock was set or the host slept: at the end its clock was %s %s the times shown, which follow the clock at the start",
		step.Abs().Round(time.Millisecond), way)}
}

// filters says what the recorder was told to leave out.
func filters(m *scan.Meta) []string {
	var ls, fs []string
	if s := m.Recording.Sample; s != nil {
		ls = append(ls, fmt.Sprintf("sampled: %d of %d connections", s.Keep, s.Of))
	}
	for k, v := range m.Recording.Filters {
		fs = append(fs, k+"="+v)
	}
	if fs != nil {
		slices.Sort(fs)
		ls = append(ls, "recorded with filters: "+strings.Join(fs, " "))
	}
	return ls
}

// Thousands is words.Thousands, for the many who have the engine at hand.
func Thousands(n int64) string { return words.Thousands(n) }

// Plural is words.Plural.
func Plural(n int64, one, many string) string { return words.Plural(n, one, many) }
