package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcpwin",
	Group:    groupTCP,
	Question: "how do congestion window, slow-start threshold and send buffer evolve per connection?",
	Help: `CSV in every text format. A row "rcv" for each segment that reached an
established connection, with the values before it was processed; "new" where a
session reached ESTABLISHED, with its ends (time 0 for sessions older than the
recording); "retrans" for each segment sent again. time_us counts from the start
of the recording. snd_cwnd and snd_ssthresh are in segments, the others in bytes;
2147483647 means that no threshold is set yet.

The kernel reuses socket addresses: a "new" row begins another session at the same
address. --sock and --gen cut out one of them, --top counts rows per session.
--compat prints the original's seven columns and its "rcv" rows only.`,
	Example: "tcpwin --sock 0xffff888012345678 > window.csv",
	Options: []engine.Option{
		{Name: "top", Short: "n", Kind: engine.Number, Default: "0", Implied: "20", Doc: "the sessions with most rcv rows instead of the rows"},
		{Name: "gen", Kind: engine.Number, Default: "0", Doc: "only this generation of the address, from 1"},
		engine.Compat("the original's columns and rows"),
	},
	New: newTcpwin,
})

type tcpwin struct {
	in        *engine.Input
	t         *render.Table
	compat    bool
	gen, top  int
	announced agg.PerSocket[bool]
	busiest   *busiest
	merged    agg.Top[uint64] // by address, as the original counts
	reused    int64
	start     int64

	newState, cwnd, ssthr, sndbuf, wmq scan.Col
}

func newTcpwin(in *engine.Input) engine.Fold {
	f := &tcpwin{in: in, compat: in.Flag("compat"), gen: in.Number("gen"), top: in.Number("top"), start: in.Start(),
		newState: in.Str("new_state"), cwnd: in.Int("snd_cwnd"), ssthr: in.Int("snd_ssthresh"),
		sndbuf: in.Int("sk_sndbuf"), wmq: in.Int("sk_wmem_queued")}
	in.Sockets("their new rows come from the list made at its start")
	in.On("tcp_rcv_est", f.rcv)
	if !f.compat {
		in.Use("tcp_state", "there are no new rows", f.state)
		in.Use("tcp_retrans", "there are no retrans rows", f.retrans)
	}
	cols := []render.Column{render.Col("event", render.String), render.Col("sock", render.Addr), render.Col("time_us", render.Int).In("us"),
		render.Col("snd_cwnd", render.Int).In("segments"), render.Col("snd_ssthresh", render.Int).In("segments"),
		render.Col("sk_sndbuf", render.Int).In("bytes"), render.Col("sk_wmem_queued", render.Int).In("bytes")}
	if !f.compat {
		cols = append(cols, render.Col("saddr", render.String), render.Col("sport", render.Int),
			render.Col("daddr", render.String), render.Col("dport", render.Int))
	}
	switch {
	case f.top > 0 && !f.compat:
		f.busiest = newBusiest(in, "top", "", f.top)
	case f.top == 0:
		f.t = in.Table(render.Spec{Name: "tcpwin", Look: render.CSV, Columns: cols})
	}
	return f
}

func (f *tcpwin) wants(s *agg.Socket) bool { return f.gen == 0 || s != nil && s.Gen == f.gen }

func (f *tcpwin) rcv(r *engine.Row) {
	s := r.Sock
	if s == nil || !f.wants(s) {
		return
	}
	if seen := f.announced.Of(s); !*seen {
		*seen = true
		if s.Gen > 1 {
			f.reused++
		}
		switch {
		case f.top > 0 || f.compat || !s.Tuple():
		case s.Older:
			f.born(s, f.start)
		default: // born before the selected time, or while tcp_state was not recorded
			f.born(s, s.First)
		}
	}
	if f.busiest != nil {
		f.busiest.add(s)
		return
	} else if f.top > 0 {
		f.merged.Add(s.Addr, 1)
		return
	}
	f.t.Str("rcv").Uint(s.Addr).Int((r.TS - f.start) / 1000)
	f.t.Int(r.Int(f.cwnd)).Int(r.Int(f.ssthr)).Int(r.Int(f.sndbuf)).Int(r.Int(f.wmq))
	if !f.compat {
		f.t.Null(4)
	}
	f.t.End()
}

func (f *tcpwin) state(r *engine.Row) {
	if f.top == 0 && f.wants(r.Sock) && r.Str(f.newState) == "ESTABLISHED" {
		*f.announced.Of(r.Sock) = true
		if f.born(r.Sock, r.TS); r.Sock.Gen > 1 {
			f.reused++
		}
	}
}

func (f *tcpwin) born(s *agg.Socket, ts int64) {
	f.t.Str("new").Uint(s.Addr).Int((ts - f.start) / 1000).Null(4)
	f.t.StrOr(s.Laddr).Int(s.Lport).StrOr(s.Raddr).Int(s.Rport).End()
}

func (f *tcpwin) retrans(r *engine.Row) {
	if f.top == 0 && r.Sock != nil && f.wants(r.Sock) {
		f.t.Str("retrans").Uint(r.Sock.Addr).Int((r.TS - f.start) / 1000).Null(8).End()
	}
}

// Finish lists the busiest sessions and says how many addresses were reused.
func (f *tcpwin) Finish(a *render.Answer) {
	if f.reused > 0 {
		said := "told apart by their new rows; the original takes the address for the session"
		if f.compat {
			said = "mixed up with others at their address, as in the original"
		}
		a.Note(fmt.Sprintf("sessions at a reused address: %s, %s", engine.Group(f.reused), said))
	}
	if f.busiest != nil {
		f.busiest.Finish(a)
	} else if f.top > 0 {
		t := f.in.Table(render.Spec{Name: "top", Look: render.Lines,
			Columns: []render.Column{render.Col("sock", render.Addr).Text("SOCK", 0), render.Col("rows", render.Int).Text("ROWS", 0)}})
		for _, e := range f.merged.Best(f.top, cmp.Compare[uint64]) {
			t.Uint(e.Key).Int(e.Count).End()
		}
	}
}
