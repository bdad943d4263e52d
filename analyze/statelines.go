package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

func (f *tcpstates) columns() []render.Column {
	c, comm, addr := "", -10, -15
	if f.compat {
		c = "C-"
	}
	cs := f.stamp.Columns(-9)
	if f.wide {
		comm, addr = -16, -26
	}
	cs = append(cs, render.Col("sock", render.Hex).Text("SKADDR", -16), render.Col("pid", render.Int).Text(c+"PID", -5),
		render.Col("comm", render.String).Text(c+"COMM", comm).Cut())
	if f.wide {
		cs = append(cs, render.Col("ip", render.Int).Text("IP", -2))
	}
	e := line.Ends()
	e[0], e[2] = e[0].Text("LADDR", addr), e[2].Text("RADDR", addr)
	return append(slices.Concat(cs, e), render.Col("old_state", render.String).Text("OLDSTATE", -11),
		render.Col("new_state", render.String).Text("NEWSTATE", -11).Sep(" -> "),
		render.Col("ms", render.Fixed).Digits(3).Text("MS", 0).ForPeople(), render.Col("old_state_ns", render.Int).In("ns"),
		render.Col("generation", render.Int), render.Col("ts_ns", render.Int).In("ns"))
}

// wants reports whether the options select the socket.
func (f *tcpstates) wants(s *agg.Socket) bool { return f.family.Wants(s.Laddr) && f.ports.Wants(s) }

func (f *tcpstates) line(s *agg.Socket, ts int64, c change) {
	shown := s
	if f.compat {
		shown = c.seen
	}
	if !f.wants(shown) {
		return
	}
	if f.changes++; s.Pid != 0 && s.Pid != c.task {
		f.strangers++
	}
	if c.early && s.Lport != 0 {
		f.filled++
	}
	s = shown
	f.stamp.Put(f.t, ts).Uint(s.Addr).IntOr(s.Pid, s.Pid != 0 || f.compat).Str(s.Comm)
	if f.wide {
		f.t.Int(line.IPVersion(s.Laddr))
	}
	line.PutEnds(f.t, s).Str(c.from).Str(c.to).Int(max(c.ns, 0)/1000).IntOr(c.ns, c.ns >= 0).Int(int64(s.Gen)).Int(ts).End()
}
