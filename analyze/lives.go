package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// lives is the pair of tables of tools that list sessions: those that began and
// ended in the recording, and those that it cut.
type lives struct {
	in         *engine.Input
	whole, cut *render.Table
	strangers  bool // pid 0 is shown, as the originals do
}

// traffic is what a session moved.
type traffic struct {
	tx, rx int64
	known  bool
}

// newLives makes the tables; more columns of whole sessions are for programs.
func newLives(in *engine.Input, strangers bool, more ...render.Column) *lives {
	cols := join(owner(), ends(), []render.Column{
		render.Col("tx_kb", render.Int).Text("TX_KB", 5).In("KiB"), render.Col("rx_kb", render.Int).Text("RX_KB", 5).In("KiB"),
		render.Col("ms", render.Int).Text("MS", 0).In("ms"), render.Col("tx_bytes", render.Int).In("bytes"),
		render.Col("rx_bytes", render.Int).In("bytes"), render.Col("life_ns", render.Int).In("ns")}, identity())
	return &lives{in: in, strangers: strangers,
		whole: in.Table(render.Spec{Name: "sessions", Columns: join(cols, more)}),
		cut: in.Table(render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end",
			Columns: append(cols, render.Col("why", render.String).Text("WHY", 0))}).Hold(1 << 16)}
}

// line fills the columns that both tables have.
func (l *lives) line(t *render.Table, s *agg.Socket, pid int64, comm string, ns int64, b traffic) *render.Table {
	putEnds(t.IntOr(pid, pid != 0 || l.strangers).Str(comm), s)
	t.IntOr(b.tx/1024, b.known).IntOr(b.rx/1024, b.known).Int(ns/1e6).IntOr(b.tx, b.known).IntOr(b.rx, b.known).Int(ns)
	return putIdentity(t, s)
}

// older lists a session that ended but began before the recording, or unseen.
func (l *lives) older(s *agg.Socket, until int64, b traffic) {
	l.line(l.cut, s, s.Pid, s.Comm, until-l.since(s), b).Str("began before").End()
}

// open lists a session that never closed.
func (l *lives) open(s *agg.Socket) {
	why, until := "end not seen", s.Last
	if s.Open {
		why, until = "open", l.in.End()
	}
	if !s.Born {
		why = "began before, " + why
	}
	l.line(l.cut, s, s.Pid, s.Comm, until-l.since(s), traffic{}).Str(why).End()
}

// since is when the part of a life that the recording has begins.
func (l *lives) since(s *agg.Socket) int64 {
	if s.Older {
		return l.in.Start()
	}
	return s.First
}

// Finish shows the sessions that the recording cut.
func (l *lives) Finish(a *render.Answer) {
	l.cut.Show()
	if l.cut.Dropped > 0 {
		a.Note("sessions cut by the recording and not listed: " + engine.Group(l.cut.Dropped))
	}
}
