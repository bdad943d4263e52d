package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
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
	switch state := r.Str(f.newState); state {
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
	l.pid, l.comm, l.cached = r.Int(f.pid), r.Str(f.comm), true
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
	listener := r.Str(f.oldState) == "LISTEN"
	older := !s.Born && f.compat == "no" && !listener
	if l.birth == 0 && !older {
		if f.compat != "no" || listener {
			return // a listener, or a session that the original never saw begin
		}
		l.birth, l.late = s.First, s.First // began before the selected time
	}
	f.lines.Add(s, r.TS, session{life: *l, ts: r.TS, bytes: bytes, older: older, retrans: r.Int(f.retrans), resent: r.Has(f.retrans),
		how: closeReason(r.Str(f.oldState), r.Int(f.sockErr)), tail: f.tail.of(s, bytes.Tx)})
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
	t := f.tables.line(f.tables.whole, s, pid, comm, l.ts, l.ts-birth, l.bytes).IntOr((l.established-l.birth)/1000, l.established != 0)
	t.IntOr(l.retrans, l.resent).Str(l.how).Int(l.ts)
	if f.tail != nil {
		t.IntOr(l.tail.Tx, l.tail.Known)
	}
	t.End()
}
