package report

import (
	"io"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Options are what a report is about.
type Options struct {
	Selection  engine.Selection
	Selected   []string // the selection as it was asked for, as in --port 443; for commands
	Thresholds string   // of findings, as --threshold has them
}

// Write reads recordings, each once, and writes one page about them. The error is a *scan.Full if
// memory ended the reading: then the page is of what was read, and says so.
func Write(srcs []scan.Source, o Options, w io.Writer) error {
	p, err := readAll(srcs, o)
	if err != nil {
		return err
	}
	if err := p.write(w); err != nil {
		return err
	}
	return p.full.Err()
}

// readAll makes the page of recordings.
func readAll(srcs []scan.Source, o Options) (*Page, error) {
	var parts []*Page
	names, shared := labels(srcs), axisOf(srcs)
	for i, src := range srcs {
		p, err := read(src, o, names[i], shared)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return join(parts), nil
}

// read makes the page of a recording.
func read(src scan.Source, o Options, label string, shared axis) (*Page, error) {
	heats, err := newHeats()
	if err != nil {
		return nil, err
	}
	f := &fold{sel: &o.Selection, asked: o.Selected, heats: heats, label: label, shared: shared}
	calls := []engine.Call{{Analysis: &engine.Analysis{Name: "report", Options: []engine.Option{findings.ThresholdOption()}, New: f.start},
		Options: map[string]string{"threshold": o.Thresholds}}}
	for _, h := range heats {
		calls = append(calls, h.call)
	}
	// The answers themselves are not wanted, only what limits them and what they say of themselves.
	said := &comments{}
	out := render.NewValues(render.Taker{Said: said.add})
	outcomes, err := engine.Run(src, calls, o.Selection, out)
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if o := outcomes[0]; o.Status == engine.Broke {
		return nil, o.Broken
	}
	for i, h := range heats {
		h.finish(outcomes[i+1], said.of(h.call.Analysis.Name))
	}
	p := f.page(said)
	p.full = outcomes[0].Full
	return p, nil
}

// fold is all that the report reads itself.
type fold struct {
	in       *engine.Input
	sel      *engine.Selection
	label    string
	shared   axis
	asked    []string
	wrong    *findings.Set
	verdict  findings.Verdict
	timeline *timeline
	sockets  *sockets
	drops    *drops
	waits    *waits
	heats    []*Heat
	procs    *engine.Busy[process]
	names    agg.Intern
	spent    *engine.Spent
}

// process is who did something.
type process struct {
	comm string
	pid  int64
}

func (f *fold) start(in *engine.Input) engine.Fold {
	f.in, f.wrong = in, findings.New(in, in.Text("threshold"), findings.MostOfRule)
	c := f.newLineClock(timelineColumns)
	f.waits = newWaits(in) // before the sockets, which ask it at their end
	f.timeline, f.sockets, f.drops = newTimeline(in, c), newSockets(in, f.suspects), newDrops(in, c)
	for _, h := range f.heats {
		h.clock = f.newClock(heatColumns)
	}
	f.spent = in.Spent()
	f.procs = engine.NewBusy(in, func(pid int64, comm string) process { return process{f.names.Get(comm), pid} })
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", f.procs.Add)
		}
	}
	return engine.FoldFunc(func(*render.Answer) { f.verdict = f.wrong.Judge() })
}

// suspects reports whether the page leads to a socket, unless others take its place.
func (f *fold) suspects(s *agg.Socket) bool { return f.wrong.Suspects(s) || f.waits.has(s) }

// Said is a sentence that an analysis says about its answer.
type Said struct{ Name, Text string }

// comments takes what analyses say about their answers. It is bounded: the sentences come
// with names from the recording.
type comments struct {
	all  []Said
	size int
}

// maxComments is how many bytes of sentences are kept.
const maxComments = 1 << 17

func (c *comments) add(name, text string) {
	if c.size < maxComments {
		c.size += len(name) + len(text)
		c.all = append(c.all, Said{name, text})
	}
}

// of is what one analysis said.
func (c *comments) of(name string) (said []Said) {
	for _, s := range c.all {
		if s.Name == name {
			said = append(said, s)
		}
	}
	return said
}
