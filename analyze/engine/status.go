package engine

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Status is whether a recording can answer an analysis.
type Status uint8

// Statuses.
const (
	Answered    Status = iota
	NotRecorded        // an event it needs was not asked for when recording
	HookMissing        // an event it needs was asked for and could not be seen
	Broke              // it panicked on the recording
)

// Outcome is what became of one analysis.
type Outcome struct {
	Name   string
	Status Status
	Why    string // why there is no answer
	Rows   int64

	Sampled string  // of what it is an answer from a share, "" from all
	Broken  *Broken // how it panicked, where it did

	Full *scan.Full // how far the recording was read, where memory did not suffice for all
}

// presence is what the file has of an event.
type presence struct {
	rows   int64
	status Status
	why    string
}

func present(m *scan.Meta, event string) presence {
	p := presence{rows: m.Rows[event]}
	if p.rows > 0 {
		return p
	}
	for _, h := range m.Hooks {
		if h.Event != event {
			continue
		}
		switch h.State {
		case schema.HookAttached:
			return p
		case schema.HookMissing:
			p.status, p.why = HookMissing, fmt.Sprintf("event %s could not be recorded: no hook attached: %s", event, schema.Reasons(h.Refused))
			return p
		}
	}
	p.status, p.why = NotRecorded, fmt.Sprintf("event %s was not recorded", event)
	return p
}

// able says whether the file has what the analysis needs.
func (in *Input) able() Outcome {
	o := Outcome{Name: in.call.Analysis.Name}
	var whys, record []string
	for _, u := range in.needs {
		record = appendNew(record, u.event)
		if p := present(in.Meta, u.event); p.status != Answered {
			o.Status = max(o.Status, p.status)
			whys = appendNew(whys, p.why)
		}
	}
	if o.Status == Answered {
		o.Sampled = in.sampledNeed()
		return o
	}
	for _, u := range in.uses {
		if !schema.ByName(u.event).Own() { // the recorder writes those by itself
			record = appendNew(record, u.event)
		}
	}
	slices.Sort(record)
	o.Why = strings.Join(whys, "; ")
	if o.Status == NotRecorded {
		o.Why += "; to record it: netrec record" + recordWith(record)
	}
	return o
}

// recordWith is the options with which events are recorded.
func recordWith(events []string) string {
	var named []string
	counted := ""
	for _, e := range events {
		if o := schema.ByName(e).AskedBy; o != "" {
			counted += " " + o
		} else {
			named = append(named, e)
		}
	}
	if named == nil {
		return counted
	}
	return " --events " + strings.Join(named, ",") + counted
}

func appendNew(ss []string, s string) []string {
	if slices.Contains(ss, s) {
		return ss
	}
	return append(ss, s)
}

// Check says whether a recording can answer an analysis, without reading rows.
func Check(m *scan.Meta, a *Analysis) (o Outcome, err error) {
	err = Contain("analysis "+a.Name, func() error {
		in, _, err := prepare(m, Call{Analysis: a}, nil)
		if err == nil {
			o = in.able()
		}
		return err
	})
	return o, o.breaks(a.Name, err)
}

// Needs lists the events an analysis cannot do without, and those it also uses.
func Needs(a *Analysis) (needs, uses []string, err error) {
	in, _, err := prepare(&scan.Meta{}, Call{Analysis: a}, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range in.needs {
		needs = appendNew(needs, u.event)
	}
	for _, u := range in.uses {
		if !slices.Contains(needs, u.event) && !schema.ByName(u.event).Own() {
			uses = appendNew(uses, u.event)
		}
	}
	return needs, uses, nil
}

// prepare makes the input of a call and lets the analysis declare itself. Without
// an answer, what it writes goes nowhere.
func prepare(m *scan.Meta, c Call, a *render.Answer) (*Input, Fold, error) {
	if a == nil {
		out, err := render.NewOutput("text", render.Bpftrace, io.Discard, io.Discard)
		if err != nil {
			return nil, nil, err
		}
		a = out.Answer(c.Analysis.Name)
	}
	in := &Input{Meta: m, Answer: a, call: c, addr: c.Addr}
	f := c.Analysis.New(in)
	in.doors()
	in.identities()
	return in, f, in.err
}

// Account is what became of an event: rows in the file, losses, and the hooks that
// saw it or why there are none.
func Account(m *scan.Meta, event string) (rows, lost int64, hooks string) {
	for _, c := range m.Losses {
		if c.Event == event {
			lost += c.Lost()
		}
	}
	for _, h := range m.Hooks {
		if h.Event != event {
			continue
		}
		switch hooks = h.State; h.State {
		case schema.HookAttached:
			hooks = shorten(h.Hooks)
			if text := share(m, event); text != "" {
				hooks = text + ": " + hooks
			}
		case schema.HookMissing:
			hooks += ": " + schema.Reasons(h.Refused)
		}
	}
	return m.Rows[event], lost, hooks
}

// Calls is how many calls an event that counts has counted, 0 where the file does not say.
func Calls(m *scan.Meta, event string) (n int64) {
	for _, c := range m.Losses {
		if c.Event == event {
			n += c.Calls
		}
	}
	return n
}

// shorten lists hooks so that they fit beside other columns.
func shorten(hooks []string) string {
	const most = 4
	if len(hooks) <= most {
		return strings.Join(hooks, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(hooks[:most-1], " "), len(hooks)-most+1)
}

// Command is the command line that asks a recording for an analysis.
func Command(m *scan.Meta, args string) string {
	words := m.Words
	if len(words) == 0 {
		words = []string{cmp.Or(m.Path, "FILE")}
	}
	line := "netrec analyze "
	for _, w := range words {
		line += render.ShellWord(w) + " "
	}
	return line + args
}
