package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "softirqs",
	Group:    groupCPU,
	Question: "how much time goes into soft interrupts, by kind?",
	Help: `The time that each soft interrupt ran, most first. net_rx is the receive path up to the
sockets, including everything that TCP sends in response; net_tx completes sent packets
and restarts queues.

Hard interrupts on top of a soft one are subtracted from its time, if they were recorded.
--compat leaves them in, as BCC does.
Work that drivers do in their own threads (threaded NAPI) is not included.`,
	Example: "softirqs --by vector,cpu",
	Options: shape.IRQOptions("vector", engine.Compat("include hard interrupts on top")),
	New:     newSoftirqs,
})

// handled is a hard interrupt: when it ended and how long it took.
type handled struct{ ts, ns int64 }

// Limits: how many hard interrupts of a CPU wait for the soft one that they are on top of
// (those that are on none are forgotten), and how many CPUs a file may claim.
const (
	maxHandled = 1024
	maxCPUs    = 1 << 14
)

type softirqs struct {
	*shape.IRQSums
	compat bool
	recent map[int64][]handled // by CPU
	names  map[string]string

	runs    int64
	inside  int64 // runs with interrupts on top
	insider int64 // ns

	Vector scan.Str
}

func newSoftirqs(in *engine.Input) engine.Fold {
	f := &softirqs{compat: in.Flag("compat"), recent: map[int64][]handled{}, names: map[string]string{}}
	in.Bind(f)
	f.IRQSums = shape.NewIRQSums(in, render.TextOr("vector", func(r *engine.Row) string { return f.name(r.Str(f.Vector)) }), "vector", "SOFTIRQ", 16, true)
	in.On("softirq", f.row)
	in.Use("irq", "the time of hard interrupts on top is not taken out", f.interrupt)
	return f
}

// name is the vector as BCC spells it.
func (f *softirqs) name(vector string) string {
	n, ok := f.names[vector]
	if !ok {
		n = strings.ToLower(vector)
		if len(f.names) < 64 {
			f.names[strings.Clone(vector)] = n
		}
	}
	return n
}

func (f *softirqs) interrupt(r *engine.Row) {
	c := r.Int(f.Cpu)
	if len(f.recent[c]) >= maxHandled {
		f.recent[c] = f.recent[c][:0]
	}
	if len(f.recent) >= maxCPUs {
		clear(f.recent)
	}
	f.recent[c] = append(f.recent[c], handled{r.TS, r.Int(f.DurNs)})
}

func (f *softirqs) row(r *engine.Row) {
	c, ns := r.Int(f.Cpu), r.Int(f.DurNs)
	began, on := r.TS-ns, int64(0)
	for _, h := range f.recent[c] {
		if h.ts-h.ns >= began {
			on += h.ns
		}
	}
	if len(f.recent[c]) > 0 {
		f.recent[c] = f.recent[c][:0]
	}
	f.runs++
	if on > 0 {
		f.inside++
		f.insider += min(on, ns)
	}
	if !f.compat {
		ns -= min(on, ns)
	}
	f.Add(r, ns)
}

// Finish tells the rules apart.
func (f *softirqs) Finish(a *render.Answer) {
	f.IRQSums.Finish(a)
	if f.inside > 0 {
		a.Note(fmt.Sprintf("hard interrupts ran on top of %s of %s, for %s us; --compat leaves them in", engine.Thousands(f.inside),
			engine.Plural(f.runs, "run", "runs"), engine.Thousands(f.insider/1000)))
	}
}
