package analyze

import "netrec/analyze/engine"

// life is what is known of one session.
type life struct {
	birth, late int64 // first and last time of a state before FIN_WAIT1
	established int64
	pid         int64 // as the script caches them
	comm        string
	cached      bool
}

// state follows a session from its first state to CLOSE.
func (f *tcplife) state(r *engine.Row) {
	if !isTCP(r.Sock) {
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

func (f *tcplife) close(l *life, r *engine.Row) {
	s, bytes := r.Sock, traffic{r.Int(f.tx), r.Int(f.rx), r.Has(f.tx)}
	if !l.cached {
		f.cache(l, r)
	}
	if !f.wants(s) {
		return
	}
	if !s.Born && f.compat == "no" && r.Str(f.oldState) != "LISTEN" {
		f.older(s, r.TS, bytes)
		return
	}
	if l.birth == 0 {
		if f.compat != "no" || r.Str(f.oldState) == "LISTEN" {
			return // a listener, or a session that the original never saw begin
		}
		l.birth, l.late = s.First, s.First // began before the selected time
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
		f.graph.add(s, r.TS-birth, bytes)
		return
	}
	t := f.tables.line(f.tables.whole, s, pid, comm, r.TS, r.TS-birth, bytes).IntOr((l.established-l.birth)/1000, l.established != 0)
	t.IntOr(r.Int(f.retrans), r.Has(f.retrans)).Str(closeReason(r.Str(f.oldState), r.Int(f.sockErr))).Int(r.TS)
	f.tail.put(t, s, bytes.tx)
	t.End()
}
