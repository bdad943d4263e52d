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
	whole, cut *render.List[sessionLine]
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

// sessionLine is a session as a line shows it.
type sessionLine struct {
	*agg.Socket
	pid   int64
	comm  string
	until int64
	ns    int64 // how long it lasted
	bytes line.Traffic

	session        // of whole ones
	why     string // of those that were cut
}

// newLives makes the tables; more fields are for programs, and for people who want them wide.
func newLives(in *engine.Input, look livesLook, more ...render.Field[sessionLine]) *lives {
	l := &lives{in: in, livesLook: look, gaps: in.Gaps("tcp_state")}
	l.stamp.Compat = look.strangers
	form := render.Columns
	if look.csv {
		form = render.CSV
	}
	l.whole = render.ListOf(in.Table, render.Spec{Name: "sessions", Look: form}, slices.Concat(l.fields(), more)...)
	l.cut = render.ListOf(in.Table, render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end", Look: form},
		append(l.fields(), render.Text("why", func(s *sessionLine) string { return s.why }).Text("WHY", 0))...)
	l.cut.Hold(1 << 16)
	return l
}

// fields are those that both tables have.
func (l *lives) fields() []render.Field[sessionLine] {
	fs := []render.Field[sessionLine]{
		render.NumOr("pid", func(s *sessionLine) (int64, bool) { return s.pid, s.pid != 0 || l.strangers }).Text("PID", -5),
		render.Text("comm", func(s *sessionLine) string { return s.comm }).Text("COMM", -10).Cut(),
	}
	ends, kb := render.Within(func(s *sessionLine) *agg.Socket { return s.Socket }, line.EndFields...), 5
	ms := render.Num("ms", func(s *sessionLine) int64 { return s.ns / 1e6 }).Text("MS", 0).In("ms")
	if l.hundredth {
		ms = render.Num("ms", func(s *sessionLine) int64 { return render.Round(s.ns, 1e6, 2) }).As(render.Fixed).Digits(2).Text("MS", 0).In("ms")
	}
	if l.wide {
		fs[1] = fs[1].Text("COMM", -16)
		fs = append(fs, render.Num("ip", func(s *sessionLine) int64 { return line.IPVersion(s.Laddr) }).Text("IP", -2))
		ends[0], ends[2], kb, ms = ends[0].Text("LADDR", -26), ends[2].Text("RADDR", -26), 6, ms.Text("MS", -10)
	}
	return slices.Concat(line.StampFields(l.stamp, -9, func(s *sessionLine) int64 { return s.until }), fs, ends, []render.Field[sessionLine]{
		render.NumOr("tx_kb", func(s *sessionLine) (int64, bool) { return s.bytes.Tx / 1024, s.bytes.Known }).Text("TX_KB", kb).In("KiB"),
		render.NumOr("rx_kb", func(s *sessionLine) (int64, bool) { return s.bytes.Rx / 1024, s.bytes.Known }).Text("RX_KB", kb).In("KiB"),
		ms,
		render.NumOr("tx_bytes", func(s *sessionLine) (int64, bool) { return s.bytes.Tx, s.bytes.Known }).In("bytes"),
		render.NumOr("rx_bytes", func(s *sessionLine) (int64, bool) { return s.bytes.Rx, s.bytes.Known }).In("bytes"),
		render.Num("life_ns", func(s *sessionLine) int64 { return s.ns }).In("ns"),
	}, render.Within(func(s *sessionLine) *agg.Socket { return s.Socket }, line.IdentityFields...))
}

// older lists a session that ended but began before the recording, or unseen.
func (l *lives) older(s *agg.Socket, until int64, b line.Traffic) {
	l.cut.Line(sessionLine{Socket: s, pid: s.Pid, comm: s.Comm, until: until, ns: until - l.since(s), bytes: b, why: line.Unborn(s, l.gaps)})
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
	l.cut.Line(sessionLine{Socket: s, pid: s.Pid, comm: s.Comm, until: until, ns: until - l.since(s), why: why})
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
