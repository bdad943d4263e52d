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
	Part bool // the rest of a connection that was handed over already, up to where rows were lost
}

// Follower follows all TCP connections of a recording.
type Follower struct {
	// Lacking is how many rows had no positions, as those of older recordings.
	Lacking int64
	// Cut is how often a connection was cut where rows may be missing. It goes on with its next event.
	Cut int64

	in      *engine.Input
	turn    func(*Followed, *Turn)
	ended   func(*Followed)
	conns   agg.PerSocket[*Followed]
	free    []*Followed
	accepts bool
	gaps    *agg.Gaps
	segment Segment
	col     columns
}

type columns struct {
	NewState, Dir, CaState                                                                                                            scan.Str
	Ret, AskedBytes, SndNxt, SndUna, OutBytes, InBytes, UnsentBytes, UnackedBytes, UnreadBytes, PayloadBytes, AckedBytes, SeqGapBytes scan.Int
	SndWnd, SndCwnd, PacketsOut, MssBytes, RttMinUs, SrttUs, SkSndbuf, SkWmemQueued                                                   scan.Int
}

// Follow hands every turn and the end of every connection of the recording to the functions, either
// of which may be nil. It uses the events Needed, tcp_state, sys_accept and tcp_retrans. A connection that is still open ends with the recording. What is handed over is reused
// after the call.
func Follow(in *engine.Input, turn func(*Followed, *Turn), ended func(*Followed)) *Follower {
	f := &Follower{in: in, turn: turn, ended: ended, accepts: in.Recorded("sys_accept")}
	in.Bind(&f.col)
	f.gaps = in.Gaps("tcp_rcv_est", "sock_io", "tcp_state", "sys_accept", "tcp_retrans")
	in.Sockets("")
	in.Use("tcp_rcv_est", "", f.arrives)
	in.Use("sock_io", "", f.call)
	in.Use("tcp_state", "", f.state)
	in.Use("sys_accept", "time in the accept queue is not told apart", f.accept)
	in.Use("tcp_retrans", "recovery is told apart only where congestion control notes it", f.retransmit)
	in.OnEnd(f.end)
	return f
}

// Notes say what is left out.
func (f *Follower) Notes() (notes []string) {
	if f.Lacking > 0 {
		notes = append(notes, "left out, recorded by a netrec without byte positions: "+engine.Plural(f.Lacking, "row", "rows")+"; record again to see these waits")
	}
	if f.Cut > 0 {
		notes = append(notes, "time in which rows were lost or not sampled is left out: "+engine.Plural(f.Cut, "connection was cut there", "cuts of connections"))
	}
	return notes
}

// of is the connection of a row. What was waited for while rows were lost is not known.
func (f *Follower) of(r *engine.Row) *Followed {
	p := f.conns.Of(r.Sock)
	if *p == nil {
		*p = f.take()
		(*p).Sock, (*p).Passive = r.Sock, r.Sock.Serves()
	}
	c := *p
	if c.Start != 0 && f.gaps.Of(r.Sock, c.End, r.TS) {
		f.Cut++
		f.hand(c, c.End)
		*c = Followed{Conn: Conn{Passive: c.Passive, OnTurn: c.OnTurn}, Sock: r.Sock, Part: true}
	}
	return c
}

// hand ends a connection and hands it over.
func (f *Follower) hand(c *Followed, until int64) {
	c.Finish(until)
	if f.ended != nil && c.End > c.Start {
		f.ended(c)
	}
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
	if !r.Has(f.col.InBytes) || !r.Has(f.col.UnreadBytes) {
		return p, false
	}
	p.Sent, p.Arrived = uint32(r.Int(f.col.OutBytes)), uint32(r.Int(f.col.InBytes))
	p.Written, p.Read = p.Sent+uint32(r.Int(f.col.UnsentBytes)), p.Arrived-uint32(r.Int(f.col.UnreadBytes))
	p.Acked = p.Sent - uint32(r.Int(f.col.UnackedBytes))
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
	p.Acked = p.Sent - uint32(r.Int(f.col.SndNxt)-r.Int(f.col.SndUna))
	s := &f.segment
	*s = Segment{Positions: p, Window: r.Int(f.col.SndWnd), Cwnd: r.Int(f.col.SndCwnd), InFlight: r.Int(f.col.PacketsOut), MSS: r.Int(f.col.MssBytes),
		LeastRTT: micros(r.Int(f.col.RttMinUs)), Smoothed: micros(r.Int(f.col.SrttUs)), BufferFull: r.Int(f.col.SkWmemQueued) >= r.Int(f.col.SkSndbuf),
		Payload: r.Int(f.col.PayloadBytes), Acks: r.Int(f.col.AckedBytes), Gap: r.Int(f.col.SeqGapBytes)}
	switch r.Str(f.col.CaState) {
	case "recovery", "loss":
		s.Recovering = true
	}
	f.of(r).Segment(r.TS, s)
}

// micros is a time of the kernel's in ns. Files may come from anywhere.
func micros(us int64) int64 { return min(max(0, us), 1<<32) * 1000 }

// eagain is EAGAIN: a call that would have to wait. One that takes a part of what it was asked for
// would have to wait for the rest.
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
	wrote, full := int64(0), false
	if r.Str(f.col.Dir) == "send" {
		wrote = r.Int(f.col.Ret)
		full = wrote == -eagain || wrote > 0 && wrote < r.Int(f.col.AskedBytes)
	}
	f.of(r).Call(r.TS, p, max(0, wrote), full)
}

func (f *Follower) state(r *engine.Row) {
	if r.Sock == nil || r.Sock.Strange || r.Sock.Protocol != "tcp" {
		return
	}
	to := r.Str(f.col.NewState)
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
	if f.gaps.Of(s, c.End, until) {
		until = c.End
	}
	f.hand(c, until)
	f.free = append(f.free, c)
}
