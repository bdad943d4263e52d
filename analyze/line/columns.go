package line

import (
	"netrec/analyze/agg"
	"netrec/analyze/render"
)

// Ends are the columns of a socket's two ends, in the widths of the BCC tools.
func Ends() []render.Column {
	return []render.Column{
		render.Col("laddr", render.String).Text("LADDR", -15), render.Col("lport", render.Int).Text("LPORT", -5),
		render.Col("raddr", render.String).Text("RADDR", -15), render.Col("rport", render.Int).Text("RPORT", -5),
	}
}

// PutEnds fills them; ends that are not known stay empty.
func PutEnds(t *render.Table, s *agg.Socket) *render.Table {
	return t.StrOr(s.Laddr).IntOr(s.Lport, s.Laddr != "").StrOr(s.Raddr).IntOr(s.Rport, s.Raddr != "")
}

// Identity are the columns that programs need to tell sockets apart.
func Identity() []render.Column {
	return []render.Column{render.Col("sock", render.Addr), render.Col("generation", render.Int), render.Col("netns", render.Int)}
}

// PutIdentity fills them.
func PutIdentity(t *render.Table, s *agg.Socket) *render.Table {
	return t.Uint(s.Addr).Int(int64(s.Gen)).Int(s.Netns)
}

// Owner are the columns of the process a session belongs to.
func Owner() []render.Column {
	return []render.Column{render.Col("pid", render.Int).Text("PID", -5), render.Col("comm", render.String).Text("COMM", -10).Cut()}
}
