package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

// columns are those of tcpconnect's lines.
func (f *tcpconnect) columns() []render.Column {
	cs := slices.Concat(f.stamp.Columns(-9), []render.Column{f.users.Column(), render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -12).Cut(),
		render.Col("ip", render.Int).Text("IP", -2), render.Col("saddr", render.String).Text("SADDR", -16)})
	port := render.Col("lport", render.Int)
	if f.lport {
		port = port.Text("LPORT", -6)
	}
	cs = append(cs, port, render.Col("daddr", render.String).Text("DADDR", -16), render.Col("dport", render.Int).Text("DPORT", -6))
	if !f.compat {
		cs = append(cs, render.Col("result", render.String).Text("RESULT", -12), render.Col("lat_ms", render.Fixed).Digits(3).Text("LATms", 9).In("ms"))
	}
	if f.dns {
		cs = append(cs, render.Col("query", render.String).Text("QUERY", 0))
	}
	return slices.Concat(cs, line.Identity(), []render.Column{render.Col("ts_ns", render.Int).In("ns")})
}

// line shows an attempt whose ends are known.
func (f *tcpconnect) line(s *agg.Socket, _ int64, a calls.Attempt) {
	raddr, rport := a.Raddr, a.Rport
	if rport == 0 {
		raddr, rport = s.Raddr, s.Rport
	}
	if !f.ports.Has(rport) { // TCP could not begin it, and its port is known only now
		f.all, f.unborn = f.all-1, f.unborn-1
		return
	}
	if f.counts {
		f.flows.Add(connectFlow{f.names.Get(s.Laddr), f.names.Get(raddr), rport}, 1)
		return
	}
	f.sums[a.Result]++
	line.PutUser(f.stamp.Put(f.t, a.At), a.Uid).Int(a.Who.Pid).Str(a.Who.Comm).Int(line.IPVersion(raddr)).StrOr(s.Laddr).IntOr(s.Lport, s.Lport != 0).StrOr(raddr).Int(rport)
	if !f.compat {
		f.t.Str(a.Result).IntOr((a.Ended-a.Began)/1000, a.Began != 0 && a.Ended != 0)
	}
	if f.dns {
		f.t.StrOr(a.Query)
	}
	line.PutIdentity(f.t, s).Int(a.At).End()
}
