package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

// lives is the pair of tables of tools that list sessions: those that began and
// ended in the recording, and those that it cut.
type lives struct {
	in         *engine.Input
	whole, cut *render.Table
	gaps       *agg.Gaps
	livesLook
}

// livesLook is how text shows sessions.
type livesLook struct {
	stamp     *line.Stamp
	strangers bool // pid 0 is shown, as the originals do
	wide      bool // room for IPv6 addresses, the IP version, and the further columns
	hundredth bool // milliseconds with two digits after the point
	csv       bool
}

// newLives makes the tables; more columns of whole sessions are for programs, and for
// people who want them wide.
func newLives(in *engine.Input, look livesLook, more ...render.Column) *lives {
	l := &lives{in: in, livesLook: look, gaps: in.Gaps("tcp_state")}
	l.stamp.Compat = look.strangers
	cols := l.columns()
	form := render.Columns
	if look.csv {
		form = render.CSV
	}
	l.whole = in.Table(render.Spec{Name: "sessions", Look: form, Columns: slices.Concat(cols, more)})
	l.cut = in.Table(render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end", Look: form,
		Columns: append(cols, render.Col("why", render.String).Text("WHY", 0))}).Hold(1 << 16)
	return l
}

func (l *lives) columns() []render.Column {
	who, e, kb, ms := line.Owner(), line.Ends(), 5, render.Col("ms", render.Int).Text("MS", 0).In("ms")
	if l.hundredth {
		ms = render.Col("ms", render.Fixed).Digits(2).Text("MS", 0).In("ms")
	}
	if l.wide {
		who[1] = who[1].Text("COMM", -16)
		who = append(who, render.Col("ip", render.Int).Text("IP", -2))
		e[0], e[2], kb, ms = e[0].Text("LADDR", -26), e[2].Text("RADDR", -26), 6, ms.Text("MS", -10)
	}
	return slices.Concat(l.stamp.Columns(-9), who, e, []render.Column{
		render.Col("tx_kb", render.Int).Text("TX_KB", kb).In("KiB"), render.Col("rx_kb", render.Int).Text("RX_KB", kb).In("KiB"),
		ms, render.Col("tx_bytes", render.Int).In("bytes"),
		render.Col("rx_bytes", render.Int).In("bytes"), render.Col("life_ns", render.Int).In("ns")}, line.Identity())
}

// line fills the columns that both tables have.
func (l *lives) line(t *render.Table, s *agg.Socket, pid int64, comm string, until, ns int64, b line.Traffic) *render.Table {
	if l.stamp.Put(t, until).IntOr(pid, pid != 0 || l.strangers).Str(comm); l.wide {
		t.Int(line.IPVersion(s.Laddr))
	}
	line.PutEnds(t, s).IntOr(b.Tx/1024, b.Known).IntOr(b.Rx/1024, b.Known)
	if l.hundredth {
		t.Int(render.Round(ns, 1e6, 2))
	} else {
		t.Int(ns / 1e6)
	}
	return line.PutIdentity(t.IntOr(b.Tx, b.Known).IntOr(b.Rx, b.Known).Int(ns), s)
}

// older lists a session that ended but began before the recording, or unseen.
func (l *lives) older(s *agg.Socket, until int64, b line.Traffic) {
	l.line(l.cut, s, s.Pid, s.Comm, until, until-l.since(s), b).Str(line.Unborn(s, l.gaps)).End()
}

// open lists a session that never closed.
func (l *lives) open(s *agg.Socket) {
	why, until := line.UnseenEnd, s.Last
	if s.Open {
		why, until = "open", l.in.End()
	}
	if !s.Born {
		why = line.Unborn(s, l.gaps) + ", " + why
	}
	l.line(l.cut, s, s.Pid, s.Comm, until, until-l.since(s), line.Traffic{}).Str(why).End()
}

// since is when the part of a life that the recording has begins.
func (l *lives) since(s *agg.Socket) int64 {
	switch {
	case s.Older:
		return l.in.Start()
	case s.Began != 0: // socket(2) may be long before
		return s.Began
	}
	return s.First
}

// Finish shows the sessions that the recording cut.
func (l *lives) Finish(a *render.Answer) {
	l.cut.Show()
	if l.cut.Dropped > 0 {
		a.Note("not listed, too many: sessions that are only partly in the recording: " + engine.Thousands(l.cut.Dropped))
	}
}
