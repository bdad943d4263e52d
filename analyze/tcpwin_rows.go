package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// winRow is what happened to a session, with the values that the kind of the row has.
type winRow struct {
	event                          string
	sock                           *agg.Socket
	us                             int64 // since the start of the recording
	cwnd, ssthresh, sndbuf, queued winValue
	ends                           bool // with the addresses
	kind                           string
}

// winValue is a number that not every kind of row has.
type winValue struct {
	n  int64
	ok bool
}

func winField(name, unit string, of func(*winRow) winValue) render.Field[winRow] {
	return render.NumOr(name, func(w *winRow) (int64, bool) { v := of(w); return v.n, v.ok }).In(unit)
}

// winFields are the original's columns, winMore those that it does not have.
var (
	winFields = []render.Field[winRow]{
		render.Text("event", func(w *winRow) string { return w.event }),
		render.Address("sock", func(w *winRow) uint64 { return w.sock.Addr }),
		render.Num("time_us", func(w *winRow) int64 { return w.us }).In("us"),
		winField("snd_cwnd", "segments", func(w *winRow) winValue { return w.cwnd }),
		winField("snd_ssthresh", "segments", func(w *winRow) winValue { return w.ssthresh }),
		winField("sk_sndbuf", "bytes", func(w *winRow) winValue { return w.sndbuf }),
		winField("sk_wmem_queued", "bytes", func(w *winRow) winValue { return w.queued }),
	}
	winMore = append(render.WithinOr(func(w *winRow) (*agg.Socket, bool) { return w.sock, w.ends },
		render.TextOr("saddr", func(s *agg.Socket) string { return s.Laddr }),
		render.Num("sport", func(s *agg.Socket) int64 { return s.Lport }),
		render.TextOr("daddr", func(s *agg.Socket) string { return s.Raddr }),
		render.Num("dport", func(s *agg.Socket) int64 { return s.Rport })),
		render.TextOr("kind", func(w *winRow) string { return w.kind }))
)

// winRows writes the rows of windows as CSV.
type winRows struct {
	t           *render.List[winRow]
	on          bool // rows are wanted
	compat      bool
	start, step int64
	born        agg.PerSocket[bool]  // has its new row
	last        agg.PerSocket[int64] // time of its last row, for step

	ProbeSent, RetransSegs, SndCwnd, SndSsthresh, SkSndbuf, SkWmemQueued scan.Int
	NewState, RetransKind, CaState                                       scan.Str
}

func newWinRows(in *engine.Input, on, compat bool) *winRows {
	f := &winRows{on: on, compat: compat, start: in.Start(), step: int64(in.Number("step")) * 1e6}
	in.Bind(f)
	if !on {
		return f
	}
	fields := winFields
	if !compat {
		fields = slices.Concat(winFields, winMore)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "rows", Look: render.CSV}, fields...)
	return f
}

func (f *winRows) row(event string, s *agg.Socket, ts int64) winRow {
	return winRow{event: event, sock: s, us: (ts - f.start) / 1000}
}

func winNumber(r *engine.Row, c scan.Int) winValue { return winValue{r.Int(c), true} }

// soon reports a row that follows the one before too soon.
func (f *winRows) soon(s *agg.Socket, ts int64) bool {
	last := f.last.Of(s)
	if f.step > 0 && *last != 0 && ts-*last < f.step {
		return true
	}
	*last = ts
	return false
}

func (f *winRows) rcv(r *engine.Row) {
	s := r.Sock
	if !f.compat && !*f.born.Of(s) && s.Tuple() {
		if s.Older {
			f.begun(s, f.start)
		} else { // born before the selected time, or while tcp_state was not recorded
			f.begun(s, s.First)
		}
	}
	if f.soon(s, r.TS) {
		return
	}
	w := f.row("rcv", s, r.TS)
	w.cwnd, w.ssthresh, w.sndbuf, w.queued = winNumber(r, f.SndCwnd), winNumber(r, f.SndSsthresh), winNumber(r, f.SkSndbuf), winNumber(r, f.SkWmemQueued)
	f.t.Line(w)
}

// send is an attempt to transmit, with the values after it.
func (f *winRows) send(r *engine.Row) {
	if f.soon(r.Sock, r.TS) {
		return
	}
	w := f.row("send", r.Sock, r.TS)
	w.cwnd, w.queued = winNumber(r, f.SndCwnd), winNumber(r, f.SkWmemQueued)
	f.t.Line(w)
}

func (f *winRows) state(r *engine.Row) {
	if r.Str(f.NewState) == "ESTABLISHED" {
		f.begun(r.Sock, r.TS)
	}
}

func (f *winRows) begun(s *agg.Socket, ts int64) {
	*f.born.Of(s) = true
	w := f.row("new", s, ts)
	w.ends = true
	f.t.Line(w)
}

func (f *winRows) retrans(r *engine.Row) {
	// A probe that repeats data has its row of tcp_retrans.
	if r.Event.Name == "tcp_tlp" && (r.Int(f.ProbeSent) == 0 || r.Int(f.RetransSegs) > 0) {
		return
	}
	w := f.row("retrans", r.Sock, r.TS)
	w.kind = r.Str(f.RetransKind)
	f.t.Line(w)
}

func (f *winRows) cong(r *engine.Row) {
	w := f.row("cong", r.Sock, r.TS)
	w.cwnd, w.ssthresh, w.kind = winNumber(r, f.SndCwnd), winNumber(r, f.SndSsthresh), r.Str(f.CaState)
	f.t.Line(w)
}
