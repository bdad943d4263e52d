package line

import (
	"netrec/analyze/agg"
	"netrec/analyze/render"
)

// EndFields are a socket's two ends, in the widths of the BCC tools; ends that are not known stay
// empty.
var EndFields = []render.Field[agg.Socket]{
	render.TextOr("laddr", func(s *agg.Socket) string { return s.Laddr }).Text("LADDR", -15),
	render.NumOr("lport", func(s *agg.Socket) (int64, bool) { return s.Lport, s.Laddr != "" }).Text("LPORT", -5),
	render.TextOr("raddr", func(s *agg.Socket) string { return s.Raddr }).Text("RADDR", -15),
	render.NumOr("rport", func(s *agg.Socket) (int64, bool) { return s.Rport, s.Raddr != "" }).Text("RPORT", -5),
}

// IdentityFields are what programs need to tell sockets apart.
var IdentityFields = []render.Field[agg.Socket]{
	render.Address("sock", func(s *agg.Socket) uint64 { return s.Addr }),
	render.Num("generation", func(s *agg.Socket) int64 { return int64(s.Gen) }),
	render.Num("netns", func(s *agg.Socket) int64 { return s.Netns }),
}
