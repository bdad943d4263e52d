package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "socks",
	Aliases:  []string{"sockets"},
	Group:    groupStart,
	Question: "which sockets were used, by whom, and how much?",
	Help: `One line per life of each socket that has rows in the recording, largest first. TX_B and
RX_B are the bytes of send and receive calls; if these were not recorded, what TCP counted
at CLOSE. RETR is retransmitted segments. MS is the lifetime within the recording. An
address that was reused has several lines; GEN tells them apart.`,
	Example: "socks --sort life --top 10",
	Options: []engine.Option{
		{Name: "sort", Short: "s", Kind: engine.Choice, Default: "bytes", Doc: "sort by",
			Choices: []string{"bytes", "tx", "rx", "life", "retrans", "drops", "rows", "start"}},
		engine.Top("50", "how many lines, at most a million"),
	},
	New: newSocks,
})

type socks struct {
	in    *engine.Input
	t     *render.List[usedSock]
	socks agg.PerSocket[line.Usage]
	best  *agg.Greatest[usedSock]
	all   int64
	again *engine.Resent

	bytes *engine.Bytes
	end   *line.EndBytes
}

type usedSock = line.UsedSock

var socksFields = slices.Concat([]render.Field[usedSock]{
	render.Address("sock", func(s *usedSock) uint64 { return s.Addr }).Text("SOCK", -18),
	render.Num("generation", func(s *usedSock) int64 { return int64(s.Gen) }).Text("GEN", 3),
	render.NonZero("pid", func(s *usedSock) int64 { return s.Pid }).Text("PID", -7),
	render.TextOr("comm", func(s *usedSock) string { return s.Comm }).Text("COMM", -15).Cut(),
	render.TextOr("protocol", func(s *usedSock) string { return s.Protocol }).Text("PROTO", -5),
}, render.Within(func(s *usedSock) *agg.Socket { return &s.Socket }, line.EndFields...), []render.Field[usedSock]{
	render.TextOr("state", func(s *usedSock) string { return s.State }).Text("STATE", -11),
	render.NumOr("tx_bytes", func(s *usedSock) (int64, bool) { return s.Tx, !s.Unknown }).Text("TX_B", 10).In("bytes"),
	render.NumOr("rx_bytes", func(s *usedSock) (int64, bool) { return s.Rx, !s.Unknown }).Text("RX_B", 10).In("bytes"),
	render.Num("retransmits", func(s *usedSock) int64 { return s.Retrans }).Text("RETR", 5).In("segments"),
	render.Num("drops", func(s *usedSock) int64 { return s.Drops }).Text("DROPS", 5),
	render.Num("ms", func(s *usedSock) int64 { return (s.Until - s.First) / 1e6 }).Text("MS", 8).In("ms"),
	render.Num("rows", func(s *usedSock) int64 { return s.Rows }).Text("ROWS", 8),
	render.Num("netns", func(s *usedSock) int64 { return s.Netns }),
	render.NonZero("cookie", func(s *usedSock) int64 { return s.Cookie }),
	render.Flag("older", func(s *usedSock) bool { return s.Older }),
	render.Num("first_ns", func(s *usedSock) int64 { return s.First }).In("ns"),
})

func newSocks(in *engine.Input) engine.Fold {
	f := &socks{in: in, bytes: in.Bytes(), end: line.NewEndBytes(in), again: in.Resent()}
	key := map[string]func(*usedSock) int64{
		"bytes": func(s *usedSock) int64 { return s.Tx + s.Rx }, "tx": func(s *usedSock) int64 { return s.Tx },
		"rx": func(s *usedSock) int64 { return s.Rx }, "life": func(s *usedSock) int64 { return s.Until - s.First },
		"retrans": func(s *usedSock) int64 { return s.Retrans }, "drops": func(s *usedSock) int64 { return s.Drops },
		"rows": func(s *usedSock) int64 { return s.Rows }, "start": func(s *usedSock) int64 { return -s.First },
	}[in.Text("sort")]
	f.best = agg.NewGreatest(max(1, min(in.Number("top"), 1e6)), func(a, b usedSock) int {
		return cmp.Or(cmp.Compare(key(&b), key(&a)), cmp.Compare(a.Serial, b.Serial))
	})
	in.Sockets("what they did before it is not counted")
	for _, e := range []string{"tcp_state", "sock_io", "tcp_retrans", "skb_drop", "sys_connect", "sys_accept", "sys_close", "tcp_rcv_est", "tcp_write_xmit"} {
		in.Use(e, map[string]string{"sock_io": "bytes are known of closed TCP sockets only", "tcp_retrans": "retransmits are not counted",
			"skb_drop": "drops are not counted", "tcp_state": "states and lives of TCP sockets are less certain"}[e], f.row)
	}
	in.OnEnd(f.ended)
	f.t = render.ListOf(in.Table, render.Spec{Name: "sockets"}, socksFields...)
	return f
}

func (f *socks) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	u := f.socks.Of(r.Sock)
	u.Rows++
	switch r.Event.Name {
	case "sock_io":
		u.IO(f.bytes.Moved(r))
	case "tcp_state":
		b := f.end.Data(r)
		u.Acked, u.Received = max(u.Acked, b.Tx), max(u.Received, b.Rx)
	case "tcp_retrans":
		u.Retrans += f.again.Segments(r)
	case "skb_drop":
		u.Drops++
	}
}

func (f *socks) ended(s *agg.Socket) {
	u := *f.socks.Of(s)
	if u.Rows == 0 {
		return
	}
	if s.Older {
		s.First = f.in.Start()
	}
	until := s.Last
	switch {
	case s.Closed != 0:
		until = s.Closed
	case s.Open:
		until = f.in.End()
	}
	// TCP counts what was acknowledged and what came, read or not: calls come first, where all of them are there.
	if thinned := f.in.Thinned(s, s.First, until); thinned || f.in.Meta.Rows["sock_io"] == 0 {
		u.Tx, u.Rx, u.Unknown = u.Acked, u.Received, thinned && u.Acked+u.Received == 0
	}
	f.all++
	f.best.Add(usedSock{Socket: *s, Usage: u, Until: until})
}

// Finish lists the greatest.
func (f *socks) Finish(a *render.Answer) {
	shown := f.best.Sorted()
	for i := range shown {
		f.t.Add(&shown[i])
	}
	if n := f.all - int64(len(shown)); n > 0 {
		a.Note(fmt.Sprintf("%s of %s sockets shown; --top %d shows all", engine.Thousands(int64(len(shown))), engine.Thousands(f.all), f.all))
	}
	f.again.Note(a)
}
