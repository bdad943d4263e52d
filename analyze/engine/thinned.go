package engine

import (
	"math/bits"
	"net/netip"

	"netrec/analyze/agg"
	"netrec/analyze/scan"
	"netrec/schema"
)

// thinning is when a budget left out rows of an event.
type thinning struct {
	all []schema.Stretch
	at  int // the stretch that the newest row was in, or the next: rows come in the order of time
}

// endOf is after the last row.
func endOf(m *scan.Meta) int64 { return max(m.LastNS, m.Recording.StopNS) + 1 }

// of is how many rows one stands for at a moment.
func (t *thinning) of(ts int64) float64 {
	for t.at < len(t.all) && ts >= t.all[t.at].To {
		t.at++
	}
	if t.at == len(t.all) || ts < t.all[t.at].From {
		return 1
	}
	if s := &t.all[t.at]; s.Weight == 0 {
		return float64(s.Of)
	}
	return t.all[t.at].Weight
}

// least is the smallest share between two moments, as one in so many.
func (t *thinning) least(from, to int64) (of uint32) {
	of = 1
	for _, s := range t.all {
		if s.From <= to && from < s.To {
			of = max(of, s.Of)
		}
	}
	return of
}

// thinnings is by event, nil where no budget left anything out.
func thinnings(m *scan.Meta) []thinning {
	if m.Budget == nil || len(m.Budget.Changes) == 0 {
		return nil
	}
	all := make([]thinning, schema.MaxID)
	for i := range schema.Events {
		e := &schema.Events[i]
		all[e.ID].all = m.Budget.Thinned(e, endOf(m))
	}
	return all
}

// judge finds out how many rows the row at hand stands for, with those that a budget left out.
func (r *run) judge(s *scan.Row) {
	if r.thin == nil || !s.Event.Scales() {
		return
	}
	r.weight, r.cluster = r.thin[s.Event.ID].of(s.TS), 0
	if r.stands = whole(r.weight, s.TS); r.weight > 1 && s.Event.Thin == schema.ByConn {
		r.cluster = s.Uint(sockCol)
		r.sampled.add(r.cluster, float64(r.stands), r.weight)
	}
}

// whole makes a weight a number of rows, the next lower or higher by a chance that makes up for
// the rest; which one is the same every time.
func whole(w float64, ts int64) int64 {
	const golden = 0x9e3779b97f4a7c15
	chance := float64(uint64(ts)*golden>>11) / (1 << 53)
	return int64(w + chance)
}

// Thinned reports whether a budget may have left out rows of a socket's sends, receives or
// segments between two moments. Of the others it is known that they are whole.
func (in *Input) Thinned(s *agg.Socket, from, to int64) bool {
	if in.run == nil || in.run.thin == nil {
		return false
	}
	of := in.run.thin[sockIO].least(from, to)
	if of == 1 {
		return false
	}
	seed, limit := uint32(0), uint64(1)<<32
	if sample := in.Meta.Recording.Sample; sample != nil && sample.Of > 0 {
		seed, limit = sample.Seed, uint64(sample.Keep)<<32/uint64(sample.Of)
	}
	halved := bits.TrailingZeros32(of)
	local, remote, known := endsOf(s)
	if known && uint64(schema.ConnHash(local, remote, seed)) >= limit>>halved {
		return true
	}
	if s.Protocol == "tcp" {
		return !known
	}
	// It may have been without a peer for a while, and gone by its address.
	return uint64(schema.SockHash(s.Addr, seed)) >= uint64(1)<<32>>halved
}

// sockIO stands for all events that are thinned by connections: their shares are the same.
var sockIO = schema.ByName("sock_io").ID

// endsOf is the two ends of a connection, if both are known.
func endsOf(s *agg.Socket) (local, remote netip.AddrPort, known bool) {
	l, err1 := netip.ParseAddr(s.Laddr)
	r, err2 := netip.ParseAddr(s.Raddr)
	if err1 != nil || err2 != nil || s.Lport <= 0 || s.Rport <= 0 {
		return local, remote, false
	}
	return netip.AddrPortFrom(l, uint16(s.Lport)), netip.AddrPortFrom(r, uint16(s.Rport)), true
}
