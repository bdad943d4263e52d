package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// winRows writes the rows of windows as CSV.
type winRows struct {
	t           *render.Table
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
	cols := []render.Column{render.Col("event", render.String), render.Col("sock", render.Addr), render.Col("time_us", render.Int).In("us"),
		render.Col("snd_cwnd", render.Int).In("segments"), render.Col("snd_ssthresh", render.Int).In("segments"),
		render.Col("sk_sndbuf", render.Int).In("bytes"), render.Col("sk_wmem_queued", render.Int).In("bytes")}
	if !compat {
		cols = append(cols, render.Col("saddr", render.String), render.Col("sport", render.Int),
			render.Col("daddr", render.String), render.Col("dport", render.Int), render.Col("kind", render.String))
	}
	f.t = in.Table(render.Spec{Name: "rows", Look: render.CSV, Columns: cols})
	return f
}

func (f *winRows) row(event string, s *agg.Socket, ts int64) *render.Table {
	return f.t.Str(event).Uint(s.Addr).Int((ts - f.start) / 1000)
}

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
	f.row("rcv", s, r.TS).Int(r.Int(f.SndCwnd)).Int(r.Int(f.SndSsthresh)).Int(r.Int(f.SkSndbuf)).Int(r.Int(f.SkWmemQueued))
	if !f.compat {
		f.t.Null(5)
	}
	f.t.End()
}

// send is an attempt to transmit, with the values after it.
func (f *winRows) send(r *engine.Row) {
	if !f.soon(r.Sock, r.TS) {
		f.row("send", r.Sock, r.TS).Int(r.Int(f.SndCwnd)).Null(2).Int(r.Int(f.SkWmemQueued)).Null(5).End()
	}
}

func (f *winRows) state(r *engine.Row) {
	if r.Str(f.NewState) == "ESTABLISHED" {
		f.begun(r.Sock, r.TS)
	}
}

func (f *winRows) begun(s *agg.Socket, ts int64) {
	*f.born.Of(s) = true
	f.row("new", s, ts).Null(4).StrOr(s.Laddr).Int(s.Lport).StrOr(s.Raddr).Int(s.Rport).Null(1).End()
}

func (f *winRows) retrans(r *engine.Row) {
	// A probe that repeats data has its row of tcp_retrans.
	if r.Event.Name == "tcp_tlp" && (r.Int(f.ProbeSent) == 0 || r.Int(f.RetransSegs) > 0) {
		return
	}
	f.row("retrans", r.Sock, r.TS).Null(8).StrOr(r.Str(f.RetransKind)).End()
}

func (f *winRows) cong(r *engine.Row) {
	f.row("cong", r.Sock, r.TS).Int(r.Int(f.SndCwnd)).Int(r.Int(f.SndSsthresh)).Null(6).StrOr(r.Str(f.CaState)).End()
}
