package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

// life is what is known of one session.
type life struct {
	birth, late int64 // first and last time of a state before FIN_WAIT1
	established int64
	pid         int64 // as the script caches them
	comm        string
	cached      bool
	closed      bool
}

// session is a life that has ended, as its line will show it.
type session struct {
	life
	ts, retrans int64
	bytes, tail line.Traffic // tail.tx is what was not acknowledged
	resent      bool         // retrans is known
	older       bool         // its beginning was not seen
	how         string
}

// state follows a session from its first state to CLOSE.
func (f *tcplife) state(r *engine.Row) {
	if !r.Sock.TCP() {
		return
	}
	l := f.lives.Of(r.Sock)
	switch state := r.Str(f.NewState); state {
	case "SYN_SENT", "SYN_RECV", "ESTABLISHED":
		if l.birth == 0 {
			l.birth = r.TS
		}
		if l.late = r.TS; state == "ESTABLISHED" {
			l.established = r.TS
		}
		if state == "SYN_SENT" {
			f.cache(l, r)
		}
	case "LAST_ACK":
		f.cache(l, r)
	case "CLOSE":
		f.close(l, r)
	}
}

// cache notes the task on the CPU, as the script does.
func (f *tcplife) cache(l *life, r *engine.Row) {
	l.pid, l.comm, l.cached = r.Int(f.Pid), r.Str(f.Comm), true
}

// close takes the end of a session. Its line waits for what is learnt of the socket after:
// a connection may be reset before a process accepts it.
func (f *tcplife) close(l *life, r *engine.Row) {
	s, bytes := r.Sock, f.bytes.Data(r)
	if f.compat != "no" {
		bytes = f.bytes.Counted(r)
	}
	if !l.cached {
		f.cache(l, r)
	}
	if l.closed {
		return
	}
	l.closed = true
	if f.compat != "no" && f.gaps.Between(f.seenFrom(s), r.TS) {
		f.unsure++ // when it began and which process that rule takes may be among lost rows
		return
	}
	f.tables.stamp.Begin(r.TS)
	listener := r.Str(f.OldState) == "LISTEN"
	older := !s.Born && f.compat == "no" && !listener
	if l.birth == 0 && !older {
		if f.compat != "no" || listener {
			return // a listener, or a session that the original never saw begin
		}
		l.birth, l.late = s.First, s.First // began before the selected time
	}
	f.lines.Add(s, r.TS, session{life: *l, ts: r.TS, bytes: bytes, older: older, retrans: r.Int(f.TotalRetrans), resent: r.Has(f.TotalRetrans),
		how: closeReason(r.Str(f.OldState), r.Int(f.SkErr)), tail: f.tail.of(s, bytes.Tx)})
}

// seenFrom is since when all rows of a session are there unless some were lost.
func (f *tcplife) seenFrom(s *agg.Socket) int64 {
	if s.Born {
		return s.First
	}
	return 0
}

// line shows a session whose life is over.
func (f *tcplife) line(s *agg.Socket, _ int64, l session) {
	if !f.wants(s) {
		return
	}
	if l.older {
		f.older(s, l.ts, l.bytes)
		return
	}
	f.sessions++
	if s.Pid != l.pid {
		f.strangers++
	}
	if l.late != l.birth {
		f.shorter++
		f.shorterMS += (l.late - l.birth) / 1e6
	}
	pid, comm, birth := s.Pid, s.Comm, l.birth
	if f.compat != "no" {
		pid, comm = l.pid, l.comm
	}
	if f.compat == "bcc" {
		birth = l.late
	}
	if f.graph != nil {
		f.graph.add(s, l.ts-birth, l.bytes)
		return
	}
	f.tables.whole.Line(sessionLine{Socket: s, pid: pid, comm: comm, until: l.ts, ns: l.ts - birth, bytes: l.bytes, session: l})
}

// Errors that end connections.
const (
	epipe        = 32
	econnreset   = 104
	etimedout    = 110
	econnrefused = 111
)

// closeReason is how a session ended, from its last state and the error of its socket.
func closeReason(last string, err int64) string {
	switch {
	case err == econnrefused:
		return "refused"
	case err == etimedout:
		return "timeout"
	case err == econnreset || err == epipe:
		return "RST received"
	case err != 0:
		return render.Errno(-err)
	case last == "SYN_SENT" || last == "SYN_RECV":
		return "given up"
	case last == "ESTABLISHED" || last == "CLOSE_WAIT":
		return "RST sent" // without a FIN: data was unread, or the process asked for it
	}
	return "FIN"
}

// unacked sums up what processes sent on TCP sockets, to tell what of it the other end
// never acknowledged.
type unacked struct {
	sent agg.PerSocket[int64]
	gaps *agg.Gaps
}

func newUnacked(in *engine.Input) *unacked {
	event := in.FirstOf("tcp_msg", "sock_io")
	u := &unacked{gaps: in.Gaps(event)}
	dir, ret := in.Str("dir"), in.Int("ret")
	in.Use(event, "what was not acknowledged is not known", func(r *engine.Row) {
		if r.Sock != nil && r.Str(dir) == "send" {
			*u.sent.Of(r.Sock) += max(0, r.Int(ret))
		}
	})
	return u
}

// of is what was not acknowledged of what was sent.
func (u *unacked) of(s *agg.Socket, acked int64) line.Traffic {
	if u == nil || u.gaps.Of(s, s.First, s.Last) {
		return line.Traffic{}
	}
	return line.Traffic{Tx: max(0, *u.sent.Of(s)-acked), Known: true}
}
