package findings

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
	"netrec/analyze/turns"
)

var nagleStall = Rule{
	Name: "nagle-stall", Default: 20e6, Unit: Duration, Any: []string{"tcp_write_xmit", "tcp_rcv_est"},
	About:    "time that Nagle's algorithm holds data back until an ACK arrives",
	Explains: []string{"slow-answers", "stalled-answers"},
	New:      newNagleStall,
}

// Linux delays ACKs by 40 ms at least and 200 ms at most; timers are late, not early.
const delayedLeast, delayedMost = 38e6, 250e6

// nagleLeast is how many stalls of a socket make a finding: the end of a single message may wait once.
const nagleLeast = 2

// Flags of a transmit attempt.
const nagleOff, naglePush = 1, 4

// stalls are what Nagle cost a socket.
type stalls struct {
	since                 int64 // data waits since then; 0 if none does
	nxt                   uint32
	all, delayed          int64
	longest, at, together int64
	buffer                int64 // ns that the socket waited for its send buffer
}

// nagle follows data that waits.
type nagle struct {
	socks agg.PerSocket[stalls]
	limit float64

	SndUna, SndNxt, WriteSeq, SndWnd, SndCwnd, PacketsOut, MssBytes, Nonagle scan.Int
}

func newNagleStall(in *engine.Input, limit float64, found *Shelf) func() {
	f := &nagle{limit: limit}
	in.Bind(f)
	in.Use("tcp_write_xmit", "", f.row)
	var turn func(*turns.Followed, *turns.Turn)
	if !in.Recorded("tcp_write_xmit") {
		turn = f.turn
	}
	found.flows.follow(turn, func(c *turns.Followed) { f.socks.Of(c.Sock).buffer += c.Split[turns.HeldSndbuf] })
	next := "tcpnagle --held"
	if !in.Recorded("tcp_write_xmit") {
		next = "sock"
	}
	in.OnEnd(func(s *agg.Socket) {
		v := f.socks.Of(s)
		if v.all < nagleLeast || v.buffer > v.together { // who may not write more cannot fill a segment
			return
		}
		why := ""
		if v.delayed > 0 {
			why = fmt.Sprintf("; %s as long as a delayed ACK of the peer", engine.Thousands(v.delayed))
		}
		found.Add(Finding{Level: Slow, Over: float64(v.longest) / limit, At: v.at,
			What:     fmt.Sprintf("%s waits for ACKs before it sends small data (Nagle), up to %s", subject(s), span(v.longest)),
			Evidence: fmt.Sprintf("%s, %s in total, longest at %s%s; TCP_NODELAY avoids it", many(v.all, "stall", "stalls"), span(v.together), at(in, v.at), why),
			Next:     show(next, s)}.of(s))
	})
	return func() {}
}

func (f *nagle) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	v, nxt := f.socks.Of(r.Sock), uint32(r.Int(f.SndNxt))
	if sent := int32(nxt-v.nxt) > 0; sent && v.since != 0 {
		v.end(r.TS-v.since, f.limit)
	}
	if v.since == 0 && f.held(r, nxt) {
		v.since = r.TS
	}
	v.nxt = nxt
}

// turn judges by written, sent and acknowledged bytes, where attempts to send are not recorded.
func (f *nagle) turn(c *turns.Followed, t *turns.Turn) {
	if t.Overlap || t.Asked+t.Answered >= longAnswer {
		return // many short waits of a transfer are no stall
	}
	v := f.socks.Of(c.Sock)
	v.since = t.Start
	v.end(t.Split[turns.HeldNagle], f.limit)
}

func (v *stalls) end(ns int64, limit float64) {
	if float64(ns) >= limit {
		v.all++
		v.together += ns
		if ns >= delayedLeast && ns <= delayedMost {
			v.delayed++
		}
		if ns > v.longest {
			v.longest, v.at = ns, v.since
		}
	}
	v.since = 0
}

// held reports whether only Nagle keeps the queued data: there is less than a segment,
// room in both windows, and something in flight.
func (f *nagle) held(r *engine.Row, nxt uint32) bool {
	queued, room := int64(int32(uint32(r.Int(f.WriteSeq))-nxt)), int64(int32(uint32(r.Int(f.SndUna))+uint32(r.Int(f.SndWnd))-nxt))
	out := r.Int(f.PacketsOut)
	return queued > 0 && queued < r.Int(f.MssBytes) && room >= queued && out > 0 && out < r.Int(f.SndCwnd) && r.Int(f.Nonagle)&(nagleOff|naglePush) == 0
}
