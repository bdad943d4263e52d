package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// openSock is a socket in use: a session of a program.
type openSock struct {
	start, ts   int64 // start is 0 without a session
	pid, fd     int64
	comm, proto string
	kind        string
	tx, rx      int64
	cut         bool // calls that moved bytes were left out
	ends        agg.Socket
}

// openSockColumns are the columns of a session.
func openSockColumns() []render.Column {
	return slices.Concat([]render.Column{render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -15).Cut(), render.Col("type", render.String).Text("TYPE", -4),
		render.Col("proto", render.String).Text("PROTO", -7), render.Col("fd", render.Int).Text("FD", -4)}, line.Ends(), []render.Column{render.Col("tx_bytes", render.Int).Text("TX_B", 9).In("bytes"),
		render.Col("rx_bytes", render.Int).Text("RX_B", 9).In("bytes"), render.Col("ms", render.Int).Text("MS", 0).In("ms"), render.Col("life_ns", render.Int).In("ns"), render.Col("passed", render.Int), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())
}

// put fills them, for a session that lasted until then.
func (s *openSock) put(t *render.Table, until int64, passed bool) *render.Table {
	several := int64(0)
	if passed {
		several = 1
	}
	t.Int(s.pid).Str(s.comm).Str(s.kind).StrOr(s.proto).IntOr(s.fd, s.fd >= 0)
	line.PutEnds(t, &s.ends).IntOr(s.tx, !s.cut).IntOr(s.rx, !s.cut).Int((until - s.start) / 1e6).Int(until - s.start)
	return line.PutIdentity(t.Int(several).Int(s.ts), &s.ends)
}

// descriptorOf is -1 where io_uring hides it.
func descriptorOf(r *engine.Row, col scan.Col) int64 {
	if !r.Has(col) {
		return -1
	}
	return r.Int(col)
}
