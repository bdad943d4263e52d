package engine

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Call is one analysis with its argument and options.
type Call struct {
	Analysis *Analysis
	Addr     uint64
	Word     string            // the argument, where it is no address
	Options  map[string]string // by name; absent ones have their default
	Implied  bool              // one of all: nobody asked for it by name

	// Tap, if set, also takes each value that goes into a histogram, with the time of the
	// row that told it: table is the histogram's name.
	Tap func(table string, ts, value int64)
}

// run is one pass over a recording.
type run struct {
	src     scan.Source
	sel     *Selection
	out     *render.Output
	inputs  []*Input
	sockets *agg.Sockets
	files   *agg.Descriptors
	match   *matcher
	table   [][]target // by event id
	sock    uint64     // the only socket any analysis wants; 0 for all
	now     int64      // ts_ns of the row at hand
	onLoss  []lossHandler
	full    *scan.Full // memory ended the scan here
	thin    []thinning // by event id; nil where no budget left anything out
	sampled clusters   // all rows that stand for others
	weight  float64    // how many rows the one at hand stands for
	stands  int64      // the same as a whole number
	cluster uint64     // what it is kept or left out with: its socket, 0 for itself
}

// target is a handler and the analysis it belongs to.
type target struct {
	in      *Input
	handler Handler
	needed  bool
	context bool
}

// Noter is a source that has something to say of user stacks: saw takes those that an
// answer is made of, and notes says it.
type Noter interface {
	scan.Source
	Stacks() (saw func(text string), notes func() []string)
}

// Run answers the calls in their order, in one pass over the recording. The error
// is about reading or writing; what an analysis could not answer is in its Outcome.
func Run(src scan.Source, calls []Call, sel Selection, out *render.Output) ([]Outcome, error) {
	r := &run{src: src, sel: &sel, out: out, table: make([][]target, schema.MaxID), thin: thinnings(src.Meta()), weight: 1, stands: 1}
	outcomes := make([]Outcome, len(calls))
	folds := make([]Fold, len(calls))
	inputs := make([]*Input, len(calls))
	for i, c := range calls {
		var err error
		if c.Word != "" {
			if c, err = c.Analysis.Find(src, sel, c); err != nil {
				return nil, err
			}
		}
		if inputs[i], folds[i], outcomes[i], err = r.begin(c); err != nil {
			return nil, err
		}
		if inputs[i] != nil {
			r.add(inputs[i])
		}
	}
	if err := Contain("reading the recording", r.scan); err != nil {
		r.stopped(err)
		return nil, err
	}
	r.table, r.inputs, r.onLoss = nil, nil, nil
	for i, in := range inputs {
		if in == nil {
			continue
		}
		r.finish(in, folds[i])
		inputs[i], folds[i] = nil, nil // what it kept is free for those to come
		outcomes[i].Full = r.full
		if outcomes[i].Rows = in.Answer.Rows(); in.broken != nil {
			outcomes[i].Status, outcomes[i].Why, outcomes[i].Broken = Broke, in.broken.why(), in.broken
		}
	}
	return outcomes, out.Err()
}

// begin prepares a call and states what limits its answer; without an answer there is no
// input.
func (r *run) begin(c Call) (in *Input, fold Fold, o Outcome, err error) {
	a := r.out.Answer(c.Analysis.Name)
	if c.Options["top"] != "" || c.Options["limit"] != "" {
		a.Whole()
	}
	a.Main(c.Analysis.Main)
	var limits []string
	err = Contain("analysis "+c.Analysis.Name, func() (err error) {
		if in, fold, err = prepare(r.src.Meta(), c, a); err != nil {
			return err
		}
		if o = in.able(); o.Status == Answered {
			limits = in.limits(r.sel)
		}
		return nil
	})
	if err := o.breaks(c.Analysis.Name, err); err != nil {
		return nil, nil, o, err
	}
	if o.Status != Answered {
		a.Begin([]string{"cannot answer: " + o.Why})
		a.End()
		return nil, nil, o, nil
	}
	a.Begin(limits)
	a.Exact(exact)
	return in, fold, o, nil
}

// finish completes an answer. One whose analysis panicked says so after what it has.
func (r *run) finish(in *Input, f Fold) {
	if r.full != nil {
		in.Answer.Limit(in.part(r.full))
	}
	if in.broken == nil {
		in.try(func() {
			in.Answer.Finishing()
			f.Finish(in.Answer)
			in.notes()
			in.explainNone(r.sel)
		})
	}
	if in.broken != nil {
		in.Answer.Limit("not complete: " + in.broken.why())
	}
	in.try(in.Answer.End)
}

// notes adds what the engine itself has to say of an answer.
func (in *Input) notes() {
	in.notePassed()
	in.noteScaled()
	if in.strange > 0 {
		in.Answer.Note("not assigned to a socket: " + Thousands(in.strange) + " rows, because of losses around them")
	}
	if in.nogroup > 0 {
		in.Answer.Note("not recorded: the cgroup in " + Thousands(in.nogroup) + " rows")
	}
	if in.stackNotes != nil {
		for _, s := range in.stackNotes() {
			in.Answer.Note(s)
		}
	}
}

// stopped ends the answers of a recording that could not be read to its end, so that
// others may follow.
func (r *run) stopped(err error) {
	for _, in := range r.inputs {
		in.Answer.Limit("not complete, reading stopped: " + err.Error())
		in.Answer.End()
	}
}

// add enters the handlers of an input that can be answered.
func (r *run) add(in *Input) {
	in.run = r
	r.inputs = append(r.inputs, in)
	if n, ok := r.src.(Noter); ok && slices.Contains(in.cols.All(), ustackCol.Col()) {
		in.sawStack, in.stackNotes = n.Stacks()
	}
	for _, u := range in.uses {
		if u.first {
			r.target(in, u, false)
		}
	}
	for _, u := range in.needs {
		r.target(in, u, true)
	}
	for _, u := range in.uses {
		if !u.first {
			r.target(in, u, false)
		}
	}
	if r.sockets == nil && (in.sockets || r.sel.through()) {
		r.sockets = agg.SocketsOf(r.src.Meta())
	}
	if r.files == nil && in.files {
		r.files = agg.NewDescriptors(r.src.Meta().Sockets)
		r.files.OnEnd(r.fileEnded)
	}
}

func (r *run) target(in *Input, u use, needed bool) {
	if u.handler != nil {
		id := schema.ByName(u.event).ID
		r.table[id] = append(r.table[id], target{in, u.handler, needed, u.context})
	}
}

// row hands a row to all analyses that want it.
func (r *run) row(row *Row, s *scan.Row) {
	row.Row, row.Sock, row.File = s, nil, nil
	r.now, r.weight, r.stands = s.TS, 1, 1 // ends of others are told first
	for i := range r.onLoss {
		r.onLoss[i].tell(s.TS)
	}
	if r.sockets != nil {
		row.Sock = r.sockets.Feed(s)
	}
	if r.files != nil {
		row.File = r.files.Feed(s, row.Sock)
	}
	selected := (r.match == nil || r.match.row(s, row.Sock)) && (r.sel.Sock == 0 || s.Uint(sockCol) == r.sel.Sock)
	targets := r.table[s.Event.ID]
	r.judge(s)
	for i := 0; i < len(targets); {
		i = r.hand(row, targets, i, selected)
	}
}

// hand gives a row to targets from one on, and returns the one to go on with: after a
// handler that panicked, the next.
func (r *run) hand(row *Row, targets []target, next int, selected bool) (i int) {
	defer func() {
		if p := recover(); p != nil {
			targets[i].in.broke(p)
			i++
		}
	}()
	s := row.Row
	for i = next; i < len(targets); i++ {
		t := &targets[i]
		if !selected && !t.context || t.in.broken != nil {
			continue
		}
		if t.in.onlySock != 0 && r.sock == 0 && s.Uint(sockCol) != t.in.onlySock {
			continue
		}
		if t.needed || len(t.in.needs) == 0 {
			t.in.matched++
		}
		if row.Sock != nil && row.Sock.Strange && !t.context {
			t.in.strange++
		}
		if t.in.sawStack != nil && s.HasStr(ustackCol) {
			t.in.sawStack(s.Str(ustackCol))
		}
		if r.weight > 1 {
			t.in.scaled.rows++
		}
		t.handler(row)
	}
	return i
}

var (
	sockCol   = scan.MustInt("sock")
	ustackCol = scan.MustStr("ustack")
)

// ended tells the analyses of a socket whose life is over.
func (r *run) ended(s *agg.Socket) {
	if s.Last < r.sel.From || r.match != nil && !r.match.socket(s) {
		return
	}
	for _, in := range r.inputs {
		if in.onlySock != 0 && s.Addr != in.onlySock || in.broken != nil {
			continue
		}
		in.try(func() {
			for _, f := range in.onEnd {
				f(s)
			}
		})
	}
}

// fileEnded tells the analyses of a file without descriptors.
func (r *run) fileEnded(f *agg.File, how agg.FileEnd, ts int64) {
	if ts < r.sel.From {
		return
	}
	for _, in := range r.inputs {
		if in.broken != nil {
			continue
		}
		in.try(func() {
			for _, g := range in.onFile {
				g(f, how, ts)
			}
		})
	}
}
