package analyze

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "profile",
	Group:    groupCPU,
	Question: "what did the CPUs do, and how much of it was network code?",
	Help: `How often each stack was found on a CPU, rarest first: kernel frames, user frames, process
and count. --folded prints one line per stack for flame graphs, outermost frame first.
--layers adds up samples by layer of the network stack: SELF counts a sample for its
innermost layer, WITHIN for every layer in its stack. There, --by separates processes or
CPUs.

Idle CPUs give no samples. Functions that the compiler inlined are missing, except in
stripped programs that --symbols DIR names from debug files in DIR. Time that a thread
spends waiting is not seen.`,
	Example: "profile --layers",
	Options: []engine.Option{
		{Name: "folded", Kind: engine.Flag, Doc: "one line per stack, for flame graphs"},
		{Name: "layers", Kind: engine.Flag, Doc: "samples by layer of the network stack instead of stacks"},
		{Name: "user-stacks-only", Short: "U", Kind: engine.Flag, Doc: "only user frames"},
		{Name: "kernel-stacks-only", Short: "K", Kind: engine.Flag, Doc: "only kernel frames"},
		{Name: "delimited", Short: "d", Kind: engine.Flag, Doc: "a mark between kernel and user frames"},
		{Name: "annotations", Short: "a", Kind: engine.Flag, Doc: "_[k] after kernel frames"},
		{Name: "cpu", Short: "C", Kind: engine.Number, Doc: "only this CPU"},
		{Name: "tid", Short: "L", Kind: engine.Number, Doc: "only this thread"},
		engine.By("", "comm", "pid", "cpu", "ctx"),
	},
	New: newProfile,
})

type profile struct {
	in     *engine.Input
	t      *render.List[sampleLine]
	layers *layers
	counts agg.Keyed[sample, int64]
	names  agg.Intern
	only   int64 // CPU; -1 for all
	thread int64 // 0 for all

	folded, noKernel, noUser, delimited, annotated bool

	blind int64

	Pid, Tid, Cpu        scan.Int
	Comm, Kstack, Ustack scan.Str
}

func newProfile(in *engine.Input) engine.Fold {
	f := &profile{in: in, only: -1, thread: int64(in.Number("tid")), folded: in.Flag("folded"), noKernel: in.Flag("user-stacks-only"), noUser: in.Flag("kernel-stacks-only"), delimited: in.Flag("delimited"), annotated: in.Flag("annotations")}
	in.Bind(f)
	if c, err := strconv.ParseInt(in.Text("cpu"), 10, 64); err == nil {
		f.only = c
	}
	keys := in.Keys(nil)
	if in.Flag("layers") {
		f.layers = newLayers(in, keys)
	}
	in.On("cpu_sample", f.row)
	if f.layers != nil {
		return shape.Also(f.layers, f)
	}
	if f.folded {
		f.t = render.ListOf(in.Table, render.Spec{Name: "folded", Look: render.Lines},
			render.Text("stack", func(l *sampleLine) string { return l.Key.folded(f.delimited, f.annotated) }).Text("stack", 0),
			render.Num("count", func(l *sampleLine) int64 { return *l.Value }).Text("count", 0))
		return f
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "stacks", Look: render.Samples, Title: f.title(), Delimited: f.delimited, Annotated: f.annotated},
		render.TextOr("kstack", func(l *sampleLine) string { return l.Key.kernel }).As(render.Stack),
		render.TextOr("ustack", func(l *sampleLine) string { return l.Key.user }).As(render.Stack),
		render.Text("comm", func(l *sampleLine) string { return l.Key.comm }),
		render.Num("pid", func(l *sampleLine) int64 { return l.Key.pid }),
		render.Num("count", func(l *sampleLine) int64 { return *l.Value }))
	return f
}

// title says how the samples were taken, as the original does.
func (f *profile) title() string {
	hertz := ""
	for _, h := range f.in.Meta.Hooks {
		if h.Event == "cpu_sample" && h.State == schema.HookAttached && len(h.Hooks) > 0 {
			_, hertz, _ = strings.Cut(h.Hooks[0], "@")
		}
	}
	stacks := "user + kernel"
	switch {
	case f.noKernel:
		stacks = "user"
	case f.noUser:
		stacks = "kernel"
	}
	on := ""
	if f.only >= 0 {
		on = fmt.Sprintf(" on CPU#%d", f.only)
	}
	return fmt.Sprintf("Sampling at %s Hertz of all threads by %s stack%s", cmp.Or(hertz, "unknown"), stacks, on)
}

func (f *profile) row(r *engine.Row) {
	if f.only >= 0 && r.Int(f.Cpu) != f.only || f.thread != 0 && r.Int(f.Tid) != f.thread {
		return
	}
	if f.layers != nil {
		f.layers.add(r, r.Str(f.Kstack), r.Str(f.Ustack))
		return
	}
	s := sample{comm: f.names.Get(r.Str(f.Comm)), pid: r.Int(f.Pid)}
	if !f.noKernel {
		s.kernel = f.names.Get(r.Str(f.Kstack))
	}
	if !f.noUser {
		s.user = f.names.Get(r.Str(f.Ustack))
	}
	if s.kernel == "" && s.user == "" {
		f.blind++
	}
	if n := f.counts.At(s); n != nil {
		*n++
	}
}

// Finish shows the stacks.
func (f *profile) Finish(a *render.Answer) {
	for _, s := range f.counts.Sorted(func(n *int64) int64 { return *n }, sample.compare) {
		f.t.Line(sampleLine{Key: s, Value: f.counts.At(s)})
	}
	if f.blind > 0 {
		a.Note(engine.Plural(f.blind, "sample", "samples") + " without a stack to show")
	}
	if n := f.counts.Overflow; n > 0 {
		a.Note(fmt.Sprintf("left out %s: more than %s different stacks", engine.Plural(n, "sample", "samples"), engine.Thousands(agg.MaxKeys)))
	}
}

// sample is what was found on a CPU.
type sample struct {
	kernel, user, comm string
	pid                int64
}

// sampleLine is a sample, and how often it was found.
type sampleLine = shape.Entry[sample, int64]

func (s sample) compare(o sample) int {
	return cmp.Or(cmp.Compare(s.comm, o.comm), cmp.Compare(s.pid, o.pid), cmp.Compare(s.kernel, o.kernel), cmp.Compare(s.user, o.user))
}

// folded is a stack on one line: process, user frames, kernel frames, outermost first.
func (s sample) folded(delimited, annotated bool) string {
	parts := []string{s.comm}
	if s.user != "" {
		parts = append(parts, withoutOffsets(s.user, ""))
	}
	if s.user != "" && s.kernel != "" && delimited {
		parts = append(parts, "-")
	}
	if s.kernel != "" {
		suffix := ""
		if annotated {
			suffix = "_[k]"
		}
		parts = append(parts, withoutOffsets(s.kernel, suffix))
	}
	return strings.Join(parts, ";")
}

// withoutOffsets is a folded stack without +0x…, each function followed by the suffix.
func withoutOffsets(folded, suffix string) string {
	frames := strings.Split(folded, ";")
	for i := range frames {
		frames[i], _, _ = strings.Cut(frames[i], "+0x")
		frames[i] += suffix
	}
	return strings.Join(frames, ";")
}
