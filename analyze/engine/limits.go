package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/scan"
	"netrec/schema"
)

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
		if l := fallback(in.Meta, e); l != "" {
			ls = append(ls, l)
		}
	}
	for _, u := range in.needs {
		ls = append(ls, unseen(in.Meta, u.event)...)
	}
	if n := in.olderSockets(); n > 0 && in.older != "" {
		ls = append(ls, fmt.Sprintf("sockets older than the recording: %s: %s", Group(int64(n)), in.older))
	}
	ls = append(ls, clockStep(in.Meta.Clock)...)
	ls = append(ls, filters(in.Meta)...)
	if len(ls) == 0 {
		return []string{"exact: nothing was lost and every hook it uses was attached"}
	}
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
			sum.Generated += c.Generated
			sum.Ring += c.Ring
			sum.Scratch += c.Scratch
			sum.Writer += c.Writer
			sum.Nested += c.Nested
		}
	}
	lost := sum.Lost()
	if lost == 0 {
		return ""
	}
	var causes []string
	for _, c := range []struct {
		n    int64
		what string
	}{{sum.Ring, "ring full"}, {sum.Scratch, "no room for the call's start"}, {sum.Writer, "writer too slow"},
		{sum.Nested, "in an interrupt of the same probe, at most"}} {
		if c.n > 0 {
			causes = append(causes, c.what+" "+Group(c.n))
		}
	}
	where := ""
	if sel.From != 0 || sel.To != 0 {
		where = " in the whole recording"
	}
	return fmt.Sprintf("lost %s of %s %s events (%s %%)%s: %s", Group(lost), Group(sum.Generated), event,
		percent(lost, sum.Generated), where, strings.Join(causes, ", "))
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
		late, blind := 0, []string{}
		for _, lib := range m.Recording.Libraries {
			if text := lib.Blind(); text != "" {
				ls = append(ls, "calls not seen of "+text)
			}
			switch {
			case !lib.Probed && lib.Refused == nil:
				blind = appendNew(blind, lib.Path)
			case lib.Late:
				late++
			}
		}
		if len(blind) > 0 {
			ls = append(ls, "not probed: "+strings.Join(blind, ", ")+"; netrec record --dns-follow probes libraries that appear during the recording")
		}
		if late > 0 {
			ls = append(ls, fmt.Sprintf("libraries that appeared during the recording: %d; first calls in them, before the probes came, are missing", late))
		}
	}
	return append(ls, event+" does not see "+e.Unseen)
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
	return []string{fmt.Sprintf("the host's clock was set or the host slept: its clock ended %s %s the times shown, which go on from the clock at the start",
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

// Group writes a number with its thousands apart: 1,234,567.
func Group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
