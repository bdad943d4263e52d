package findings

import (
	"cmp"
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var receiveBuffer = Rule{
	Name: "receive-buffer", Default: 90, Unit: Percent, Any: []string{"sock_io"},
	About:    "how full a receive buffer is at three or more reads; or any packet that found no room",
	Explains: []string{"slow-answers", "stalled-answers"},
	New:      newReceiveBuffer,
}

// fullReads is how many full reads make a finding, since one may be chance, and fullShare which share of all
// they must be, in percent: bursts fill the buffer of a reader that keeps up.
const fullReads, fullShare = 3, 10

// fullFor is how long, in ns, a segment must have found the buffer full before the read: longer than a
// reader that is merely busy needs for its next turn on a CPU.
const fullFor = 50e6

// filling is how full the buffer of a socket was.
type filling struct {
	reads, full    int64
	most           float64 // percent
	limit, mostAt  int64
	size           int64 // at the last read
	since, came    int64 // segments found it full since then, with so many bytes; 0 if none did since the last read
	first          int64 // when a packet found no room
	found, dropped int64 // packets that found the queue full, and those dropped for it: the same ones, where the kernel tells both
}

// read takes a read that found n bytes in a buffer of that size, or more where segments that came before it
// found more for long.
func (f *filling) read(ts, n, size int64, limit float64) {
	if f.since != 0 && ts-f.since >= fullFor {
		n = max(n, f.came)
	}
	percent := 100 * float64(n) / float64(size)
	if f.reads++; percent >= limit {
		f.full++
	}
	if percent > f.most {
		f.most, f.limit, f.mostAt = percent, size, ts
	}
	f.size, f.since = size, 0
}

// refused is how many packets had no room.
func (f *filling) refused() int64 { return max(f.found, f.dropped) }

func newReceiveBuffer(in *engine.Input, limit float64, found *Shelf) func() {
	var socks agg.PerSocket[filling]
	dir, held, entry, buf, bufIn, reason := in.Str("dir"), in.Int("sk_rmem_alloc"), in.Int("rmem_entry_bytes"), in.Int("sk_rcvbuf"), in.Int("rcvbuf_entry_bytes"), in.Str("drop_reason")
	in.Use("sock_io", "", func(r *engine.Row) {
		size := r.Int(buf)
		if r.Has(bufIn) {
			size = r.Int(bufIn)
		}
		if r.Sock == nil || size <= 0 || r.Str(dir) != "recv" {
			return
		}
		n := r.Int(held)
		if r.Has(entry) {
			n = r.Int(entry)
		}
		socks.Of(r.Sock).read(r.TS, n, size, limit)
	})
	in.Use("tcp_rcv_est", "", func(r *engine.Row) {
		if f := socks.Of(r.Sock); f.size > 0 && 100*float64(r.Int(held)) >= limit*float64(f.size) {
			f.since, f.came = cmp.Or(f.since, r.TS), r.Int(held)
		}
	})
	refused := func(r *engine.Row, count func(*filling)) {
		if f := socks.Of(r.Sock); r.Sock != nil {
			count(f)
			f.first = cmp.Or(f.first, r.TS)
		}
	}
	in.Use("sock_rcvqueue_full", "", func(r *engine.Row) { refused(r, func(f *filling) { f.found++ }) })
	in.Use("skb_drop", "", func(r *engine.Row) {
		if why := r.Str(reason); strings.HasPrefix(why, "SOCKET_RCV") || why == "SOCKET_BACKLOG" {
			refused(r, func(f *filling) { f.dropped++ })
		}
	})
	in.OnEnd(func(s *agg.Socket) {
		if f := socks.Of(s); f.full >= fullReads && 100*f.full >= fullShare*f.reads || f.refused() > 0 {
			found.Add(f.finding(in, s, limit))
		}
	})
	return func() {}
}

func (f *filling) finding(in *engine.Input, s *agg.Socket, limit float64) Finding {
	v := Finding{Level: Slow, Over: max(1, f.most/limit), At: f.mostAt, Next: show("sormem", s)}.of(s)
	v.What = fmt.Sprintf("%s is limited by its receive buffer: it reads too slowly", subject(s))
	var said []string
	if f.reads > 0 {
		said = append(said, fmt.Sprintf("%s of %s found it at least %g %% full, up to %.0f %% of %s bytes at %s",
			engine.Thousands(f.full), many(f.reads, "read", "reads"), limit, f.most, engine.Thousands(f.limit), at(in, f.mostAt)))
	}
	if f.refused() > 0 {
		v.Level, v.Over, v.At = Bad, max(v.Over, float64(f.refused())), f.first
		said = append(said, fmt.Sprintf("%s found no room, first at %s", many(f.refused(), "packet", "packets"), at(in, f.first)))
	}
	v.Evidence = strings.Join(said, "; ")
	return v
}
