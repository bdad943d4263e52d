package turns

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// Needed are the events without which nothing can be said.
var Needed = []string{"tcp_rcv_est", "sock_io"}

// Followed is a connection of a recording.
type Followed struct {
	Conn
	Sock *agg.Socket
}

// Follower follows all TCP connections of a recording.
type Follower struct {
	// Lacking is how many rows had no positions, as those of older recordings.
	Lacking int64

	in      *engine.Input
	turn    func(*Followed, *Turn)
	ended   func(*Followed)
	conns   agg.PerSocket[*Followed]
	free    []*Followed
	accepts bool
	segment Segment
	col     columns
}

type columns struct {
	newState, dir, caState                                                    scan.Col
	ret, sndNxt, sndUna, rcvNxt, unsent, unacked, unread, payload, acked, gap scan.Col
	window, cwnd, packets, mss, rtt, sndbuf, wmem                             scan.Col
}

// Follow hands every turn and the end of every connection of the recording to the functions, either
// of which may be nil. It uses the events Needed, tcp_state, sys_accept and tcp_retrans. A connection that is still open ends with the recording. What is handed over is reused
// after the call.
func Follow(in *engine.Input, turn func(*Followed, *Turn), ended func(*Followed)) *Follower {
	f := &Follower{in: in, turn: turn, ended: ended, accepts: in.Recorded("sys_accept")}
	f.col = columns{newState: in.Str("new_state"), dir: in.Str("dir"), caState: in.Str("ca_state"), ret: in.Int("ret"),
		sndNxt: in.Int("snd_nxt"), sndUna: in.Int("snd_una"), rcvNxt: in.Int("rcv_nxt"), unsent: in.Int("unsent_bytes"),
		unacked: in.Int("unacked_bytes"), unread: in.Int("unread_bytes"), payload: in.Int("payload_bytes"),
		acked: in.Int("acked_bytes"), gap: in.Int("seq_gap_bytes"), window: in.Int("snd_wnd"), cwnd: in.Int("snd_cwnd"),
		packets: in.Int("packets_out"), mss: in.Int("mss_bytes"), rtt: in.Int("rtt_min_us"), sndbuf: in.Int("sk_sndbuf"), wmem: in.Int("sk_wmem_queued")}
	in.Sockets("")
	in.Use("tcp_rcv_est", "", f.arrives)
	in.Use("sock_io", "", f.call)
	in.Use("tcp_state", "", f.state)
	in.Use("sys_accept", "time in the accept queue is not told apart", f.accept)
	in.Use("tcp_retrans", "recovery is told apart only where congestion control notes it", f.retransmit)
	in.OnEnd(f.end)
	return f
}

// of is the connection of a row.
func (f *Follower) of(r *engine.Row) *Followed {
	c := f.conns.Of(r.Sock)
	if *c == nil {
		*c = f.take()
		(*c).Sock, (*c).Passive = r.Sock, r.Sock.Serves()
	}
	return *c
}

func (f *Follower) take() *Followed {
	c := &Followed{}
	if n := len(f.free); n > 0 {
		c, f.free = f.free[n-1], f.free[:n-1]
	}
	*c = Followed{}
	if f.turn != nil {
		c.OnTurn = func(t *Turn) { f.turn(c, t) }
	}
	return c
}

// positions are those of a row that has them by the columns of schema.Positions.
func (f *Follower) positions(r *engine.Row) (p Positions, ok bool) {
	if !r.Has(f.col.rcvNxt) || !r.Has(f.col.unread) {
		return p, false
	}
	p.Sent, p.Arrived = uint32(r.Int(f.col.sndNxt)), uint32(r.Int(f.col.rcvNxt))
	p.Written, p.Read = p.Sent+uint32(r.Int(f.col.unsent)), p.Arrived-uint32(r.Int(f.col.unread))
	p.Acked = p.Sent - uint32(r.Int(f.col.unacked))
	return p, true
}

func (f *Follower) arrives(r *engine.Row) {
	p, ok := f.positions(r)
	if !ok {
		f.Lacking++
	}
	if !ok || r.Sock == nil || r.Sock.Strange {
		return
	}
	p.Acked = uint32(r.Int(f.col.sndUna))
	s := &f.segment
	*s = Segment{Positions: p, Window: r.Int(f.col.window), Cwnd: r.Int(f.col.cwnd), InFlight: r.Int(f.col.packets), MSS: r.Int(f.col.mss),
		LeastRTT: max(0, r.Int(f.col.rtt)) * 1000, BufferFull: r.Int(f.col.wmem) >= r.Int(f.col.sndbuf),
		Payload: r.Int(f.col.payload), Acks: r.Int(f.col.acked), Gap: r.Int(f.col.gap)}
	switch r.Str(f.col.caState) {
	case "Recovery", "Loss":
		s.Recovering = true
	}
	f.of(r).Segment(r.TS, s)
}

// eagain is EAGAIN: a call that would have to wait.
const eagain = 11

func (f *Follower) call(r *engine.Row) {
	p, ok := f.positions(r)
	if r.Sock == nil || r.Sock.Strange {
		return
	}
	if !ok {
		if r.Sock.Protocol == "tcp" {
			f.Lacking++
		}
		return
	}
	f.of(r).Call(r.TS, p, r.Str(f.col.dir) == "send" && r.Int(f.col.ret) == -eagain)
}

func (f *Follower) state(r *engine.Row) {
	if r.Sock == nil || r.Sock.Strange || r.Sock.Protocol != "tcp" {
		return
	}
	to := r.Str(f.col.newState)
	switch p, ok := f.positions(r); {
	case ok:
		f.of(r).State(r.TS, to, &p, f.accepts)
	case to == "SYN_SENT" || to == "SYN_RECV" || to == "CLOSE":
		f.of(r).State(r.TS, to, nil, f.accepts)
	case to != "LISTEN":
		f.Lacking++
		f.of(r).Forget()
	}
}

func (f *Follower) accept(r *engine.Row) {
	if r.Sock != nil && !r.Sock.Strange {
		f.of(r).Accept(r.TS)
	}
}

func (f *Follower) retransmit(r *engine.Row) {
	if r.Sock != nil && !r.Sock.Strange {
		f.of(r).Retransmit(r.TS)
	}
}

func (f *Follower) end(s *agg.Socket) {
	p := f.conns.Of(s)
	c := *p
	if c == nil {
		return
	}
	*p = nil
	until := s.Last
	if s.Open {
		until = f.in.End()
	}
	c.Finish(until)
	if f.ended != nil && c.End > c.Start {
		f.ended(c)
	}
	f.free = append(f.free, c)
}
