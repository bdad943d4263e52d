package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "tcpwin",
	Group:    groupSlow,
	Question: "how do congestion window, slow-start threshold and send buffer evolve per connection?",
	Help: `CSV in every text format. Rows are: "rcv" for each segment that reached an established
connection, with the values before it was processed; "new" when a session reached
ESTABLISHED, with its addresses (time 0 for sessions older than the recording); "retrans"
for each retransmitted buffer, with the kind as in tcpretrans; "cong" when congestion
control changed its state, with the state as kind. --send adds "send" for each transmit
attempt. time_us counts from the start of the recording. snd_cwnd and snd_ssthresh are in
segments, the others in bytes; 2147483647 means that no threshold is set yet. Changes
between two segments show at the next segment.

--top counts rows per session, busiest first. --sock and --gen select one session. --plot
draws it into a file: the side that sent most, unless --sock says which. --step keeps at
most one rcv or send row of a session in that many milliseconds.

The kernel reuses socket addresses: a "new" row starts another session at the same
address. --compat prints only the original's seven columns and its "rcv" rows.`,
	Example: "tcpwin --plot window.svg --port 443",
	Options: []engine.Option{
		{Name: "top", Short: "n", Kind: engine.Number, Default: "0", Implied: "20", Doc: "print the sessions with most rcv rows instead of the rows"},
		{Name: "gen", Kind: engine.Number, Default: "0", Doc: "only this generation of the address, from 1"},
		{Name: "send", Kind: engine.Flag, Doc: "add rows for transmit attempts"},
		{Name: "step", Kind: engine.Number, Default: "0", Doc: "milliseconds between rows of a session, 0 for all rows"},
		{Name: "plot", Kind: engine.Text, Doc: "draw one session into this file, .svg or .png, instead of rows"},
		engine.Compat("the original's columns and rows"),
	},
	New: newTcpwin,
})

type tcpwin struct {
	in       *engine.Input
	rows     *winRows
	plot     *winPlot
	busiest  *line.Busiest
	merged   agg.Top[uint64] // by address, as the original counts
	compat   bool
	gen, top int
	reused   int64
	seen     agg.PerSocket[bool]
}

func newTcpwin(in *engine.Input) engine.Fold {
	f := &tcpwin{in: in, compat: in.Flag("compat"), gen: in.Number("gen"), top: in.Number("top")}
	in.Sockets("their new rows come from the list made at its start")
	if path := in.Text("plot"); path != "" {
		f.plot = newWinPlot(in, path)
	} else if f.top > 0 && !f.compat {
		f.busiest = line.NewBusiest(in, "top", "", f.top)
	}
	f.rows = newWinRows(in, f.plot == nil && f.top == 0, f.compat)
	in.On("tcp_rcv_est", f.rcv)
	if f.compat {
		return f
	}
	in.Use("tcp_state", "there are no new rows", func(r *engine.Row) {
		if f.wants(r.Sock) && f.rows.on {
			f.rows.state(r)
		}
	})
	in.Use("tcp_retrans", "there are no retrans rows", f.retrans)
	if f.rows.on {
		in.Use("tcp_tlp", "", f.retrans)
		in.Use("tcp_cong_state", "", func(r *engine.Row) {
			if f.wants(r.Sock) {
				f.rows.cong(r)
			}
		})
	}
	if in.Flag("send") {
		in.Use("tcp_write_xmit", "there are no send rows", func(r *engine.Row) {
			if f.wants(r.Sock) && f.rows.on {
				f.rows.send(r)
			}
		})
	}
	return f
}

func (f *tcpwin) wants(s *agg.Socket) bool { return s != nil && (f.gen == 0 || s.Gen == f.gen) }

func (f *tcpwin) rcv(r *engine.Row) {
	s := r.Sock
	if !f.wants(s) {
		return
	}
	if seen := f.seen.Of(s); !*seen {
		if *seen = true; s.Gen > 1 {
			f.reused++
		}
	}
	switch {
	case f.plot != nil:
		f.plot.rcv(r, f.rows)
	case f.busiest != nil:
		f.busiest.Add(s)
	case f.top > 0:
		f.merged.Add(s.Addr, 1)
	default:
		f.rows.rcv(r)
	}
}

func (f *tcpwin) retrans(r *engine.Row) {
	switch {
	case !f.wants(r.Sock):
	case f.plot != nil:
		f.plot.retrans(r)
	case f.rows.on:
		f.rows.retrans(r)
	}
}

// Finish lists the busiest sessions and says how many addresses were reused.
func (f *tcpwin) Finish(a *render.Answer) {
	if f.reused > 0 {
		said := "each starts with a new row; the original mixes them up"
		if f.compat {
			said = "mixed up with others at the same address, as in the original"
		}
		a.Note(fmt.Sprintf("sessions at a reused address: %s, %s", engine.Thousands(f.reused), said))
	}
	switch {
	case f.plot != nil:
		f.plot.finish(a)
	case f.busiest != nil:
		f.busiest.Finish(a)
	case f.top > 0:
		t := render.ListOf(f.in.Table, render.Spec{Name: "top", Look: render.Lines},
			render.Address("sock", func(e *agg.Entry[uint64]) uint64 { return e.Key }).Text("SOCK", 0),
			render.Num("rows", func(e *agg.Entry[uint64]) int64 { return e.Count }).Text("ROWS", 0))
		for _, e := range f.merged.Best(f.top, cmp.Compare[uint64]) {
			t.Line(e)
		}
	}
}
