package engine

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Slack of the times in rows of lost. The recorder counts what was lost after it has looked at
// the clock, and what its writer drops it counts when the disk has refused it.
const (
	lossSlack   = 50e6
	writerSlack = 10e9
	lossTail    = 1e9 // after the last of them
)

// maxLossCPUs is how many CPUs a file may have rows of for its losses to be told by them.
const maxLossCPUs = 1 << 12

// Gaps are the times in which rows of any of the events were lost. They are known once the
// rows come, and joins ask them: what began before a gap may have ended in it.
func (in *Input) Gaps(events ...string) *agg.Gaps {
	g := &agg.Gaps{}
	if slices.ContainsFunc(events, func(e string) bool { return schema.ByName(e).Class() == schema.ClassConns }) {
		g.Thinned = in.Thinned
	}
	in.gaps = append(in.gaps, lossOfEvents{g, events})
	return g
}

// OnLoss calls f before each row that comes where rows of the events may be missing, and
// before the first one after: nothing that began until then is known to go on.
func (in *Input) OnLoss(events []string, f func()) {
	in.onLoss = append(in.onLoss, lossHandler{in.Gaps(events...), 0, f})
}

// lossHandler is who wants to know of gaps.
type lossHandler struct {
	gaps *agg.Gaps
	told int64 // up to this moment
	f    func()
}

// tell calls the handler if a row may be missing since it was last called.
func (h *lossHandler) tell(now int64) {
	if last := h.gaps.Last(now); last > h.told {
		h.told = last
		h.f()
	}
}

// lossOfEvents are the gaps of some events.
type lossOfEvents struct {
	gaps   *agg.Gaps
	events []string
}

func (l *lossOfEvents) lost(m *scan.Meta) (n int64) {
	for _, c := range m.Losses {
		if slices.Contains(l.events, c.Event) {
			n += c.Lost()
		}
	}
	return n
}

// gaps finds the gaps of all who asked. Rows of lost say in which tenth of a second; the
// numbers that each CPU gives its rows, lost ones included, say between which of them.
func (r *run) gaps() error {
	var all []lossOfEvents
	for _, in := range r.inputs {
		all = append(all, in.gaps...)
	}
	if r.sockets != nil {
		lives, openers := r.sockets.Gaps()
		all = append(all, lossOfEvents{lives, agg.LifeEvents}, lossOfEvents{openers, agg.OpenerEvents})
	}
	if r.files != nil {
		files, copies := r.files.Gaps()
		all = append(all, lossOfEvents{files, agg.FileEvents}, lossOfEvents{copies, agg.CopyEvents})
	}
	m := r.src.Meta()
	all = slices.DeleteFunc(all, func(l lossOfEvents) bool { return l.lost(m) == 0 && m.Rows["lost"] == 0 })
	if len(all) == 0 {
		return nil
	}
	f := newGapFinder(m, all)
	if err := r.read(scan.Query{Events: []string{"lost"}, Columns: f.lostCols.asked.All()}, f.lost); err != nil {
		return err
	}
	if f.end(); f.from < f.to {
		// All events: the numbers count them together. What follows shows that the last are complete.
		f.to += lossTail
		if err := r.read(scan.Query{Columns: f.cols.asked.All(), From: f.from, To: f.to}, f.row); err != nil {
			return err
		}
	}
	f.settle()
	for _, in := range r.inputs {
		for _, h := range in.onLoss {
			if h.gaps.Any() {
				r.onLoss = append(r.onLoss, h)
			}
		}
	}
	return nil
}

// prove reads the recording once to learn how long lives of sockets are known to have lasted,
// where rows were lost that end them. Events suffice that say whose they are.
func (r *run) prove(q scan.Query) error {
	if lives, _ := r.sockets.Gaps(); !lives.Any() {
		return nil
	}
	s := agg.SocketsOf(r.src.Meta())
	s.Follow(r.sockets)
	known := s.Collect()
	q.Events = slices.DeleteFunc(slices.Clone(q.Events), func(e string) bool { return !identifies(e) })
	q.Columns, q.From = s.Columns(), 0
	if err := r.read(q, func(row *scan.Row) error { s.Feed(row); return nil }); err != nil {
		return err
	}
	s.Close()
	r.sockets.Trust(known)
	return nil
}

// identifies reports events whose rows may have a cookie or ends.
func identifies(event string) bool {
	return slices.Contains(schema.Columns[schema.ColumnIndex("cookie")].Events, event) || slices.Contains(schema.Columns[schema.ColumnIndex("lport")].Events, event) ||
		slices.Contains(agg.LifeEvents, event)
}

// gapFinder narrows the windows of lost rows down.
type gapFinder struct {
	meta     *scan.Meta
	sets     []gapSet
	cpus     map[int64]*cpuRows
	from, to int64 // of the time in which rows are looked at

	lostCols lostColumns
	cols     numberColumns
}

// lostColumns are read of rows of lost.
type lostColumns struct {
	asked scan.Columns

	WindowNs, LostCount, LostCpu scan.Int
	LostEvent, Cause             scan.Str
}

// numberColumns are read of all rows.
type numberColumns struct {
	asked scan.Columns

	Cpu, Seq scan.Int
}

// gapSet is what was lost of some events.
type gapSet struct {
	lossOfEvents
	windows map[int64][]lossWindow // by CPU, in the order of their ends
	told    int64                  // events that rows of lost account for
	last    int64                  // ts_ns of the newest of those rows
}

type lossWindow struct {
	from, to int64
	found    bool // numbers are missing in it
}

// cpuRows is the newest row of a CPU.
type cpuRows struct{ seq, ts int64 }

func newGapFinder(m *scan.Meta, all []lossOfEvents) *gapFinder {
	f := &gapFinder{meta: m, cpus: map[int64]*cpuRows{}}
	f.lostCols.asked.MustBind(&f.lostCols)
	f.cols.asked.MustBind(&f.cols)
	for _, l := range all {
		f.sets = append(f.sets, gapSet{lossOfEvents: l, windows: map[int64][]lossWindow{}})
	}
	return f
}

// lost takes a row of lost. CPU -1 stands for any: no number is missing then.
func (f *gapFinder) lost(r *scan.Row) error {
	w := lossWindow{from: r.TS - max(0, min(r.Int(f.lostCols.WindowNs), r.TS)) - lossSlack, to: r.TS + lossSlack}
	if r.Str(f.lostCols.Cause) == "writer" {
		w.from -= writerSlack
	}
	cpu := max(-1, r.Int(f.lostCols.LostCpu))
	for i := range f.sets {
		s := &f.sets[i]
		if !slices.Contains(s.events, r.Str(f.lostCols.LostEvent)) {
			continue
		}
		if s.told, s.last = s.told+r.Int(f.lostCols.LostCount), r.TS; cpu < 0 {
			s.gaps.Add(w.from, w.to)
			continue
		}
		s.windows[cpu] = append(s.windows[cpu], w)
		if f.to == 0 {
			f.from = w.from
		}
		f.from, f.to = min(f.from, w.from), max(f.to, w.to)
	}
	return nil
}

// end takes what the account has and no row tells of: it was lost after the newest of them.
func (f *gapFinder) end() {
	for i := range f.sets {
		if s := &f.sets[i]; s.lossOfEvents.lost(f.meta) > s.told {
			s.gaps.Add(max(s.last, f.meta.Start())-lossSlack, max(f.meta.LastNS, f.meta.Recording.StopNS))
		}
	}
}

// row looks for numbers that are missing before a row.
func (f *gapFinder) row(r *scan.Row) error {
	if r.Event.Own() || r.Event.Counts() { // made by the recorder: they have no number
		return nil
	}
	cpu, seq := r.Int(f.cols.Cpu), r.Int(f.cols.Seq)
	c := f.cpus[cpu]
	if c == nil {
		if len(f.cpus) >= maxLossCPUs {
			return nil
		}
		c = &cpuRows{seq: seq - 2, ts: f.from} // what was before is not known
		f.cpus[cpu] = c
	}
	if seq > c.seq+1 {
		f.missing(cpu, c.ts, r.TS)
	}
	// An interrupt may take its number after the row below it and its time before.
	if seq > c.seq {
		c.seq, c.ts = seq, r.TS
	}
	return nil
}

// missing notes that a CPU has numbers between two moments that no row has.
func (f *gapFinder) missing(cpu, from, to int64) {
	for i := range f.sets {
		ws := f.sets[i].windows[cpu]
		// Windows are in the order of their ends; most gaps are in the newest that has begun.
		at, _ := slices.BinarySearchFunc(ws, from, func(w lossWindow, ts int64) int {
			if w.to < ts {
				return -1
			}
			return 1
		})
		for ; at < len(ws) && ws[at].from <= to+writerSlack; at++ {
			if w := &ws[at]; w.from <= to {
				w.found = true
				f.sets[i].gaps.Add(max(from, w.from), min(to, w.to))
			}
		}
	}
}

// settle completes the gaps: after the newest row of each CPU, and where no number was
// missing and nothing narrows the window down.
func (f *gapFinder) settle() {
	for cpu, c := range f.cpus {
		f.missing(cpu, c.ts, f.to)
	}
	for i := range f.sets {
		s := &f.sets[i]
		for _, ws := range s.windows {
			for _, w := range ws {
				if !w.found {
					s.gaps.Add(w.from, w.to)
				}
			}
		}
		s.gaps.Settle()
	}
}
