package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/schema"
)

var closeWait = Rule{
	Name: "close-wait", Default: 5, Unit: Count, Any: []string{"tcp_state"},
	About: "connections of one service that the peer closed a second ago or longer and this side never did",
	New:   newCloseWait,
}

// closeWaitAge is how long a connection is in CLOSE_WAIT at the end of the recording. A program
// that reads the end of its data closes within its next turn.
const closeWaitAge = 1e9

// leak are the connections of one service that are left in CLOSE_WAIT.
type leak struct {
	n, older, since int64 // older: since before the recording
	who             string
	sock            agg.Socket
}

// leaking follows connections that the peer has closed.
type leaking struct {
	in       *engine.Input
	since    agg.PerSocket[int64]
	older    map[int64]*schema.Socket // in CLOSE_WAIT at the start, by cookie, while no row changes that
	services agg.Keyed[string, leak]
	names    agg.Intern
}

func newCloseWait(in *engine.Input, limit float64, found *Shelf) func() {
	f := &leaking{in: in, older: map[int64]*schema.Socket{}}
	for i := range in.Meta.Sockets {
		if s := &in.Meta.Sockets[i]; s.State == "CLOSE_WAIT" && s.Protocol == "tcp" {
			f.older[s.Cookie] = s
		}
	}
	to := in.Str("new_state")
	in.Use("tcp_state", "", func(r *engine.Row) {
		if r.Sock != nil && r.Str(to) == "CLOSE_WAIT" {
			*f.since.Of(r.Sock) = r.TS
		}
	})
	in.OnEnd(f.ended)
	return func() { f.judge(limit, found) }
}

func (f *leaking) ended(s *agg.Socket) {
	was := f.older[s.Cookie] != nil && s.Cookie != 0
	if delete(f.older, s.Cookie); !s.Open || s.State != "CLOSE_WAIT" {
		return
	}
	since := cmp.Or(*f.since.Of(s), f.in.Start())
	if l := f.services.At(f.names.Get(service(s))); l != nil && f.in.End()-since >= closeWaitAge {
		l.add(since, owner(s.Pid, s.Comm), was)
		l.sock = *s
	}
}

func (l *leak) add(since int64, who string, older bool) {
	if l.n++; l.n == 1 || since < l.since {
		l.since = since
	}
	if l.who = who; older {
		l.older++
	}
}

func (f *leaking) judge(limit float64, found *Shelf) {
	for _, s := range f.older {
		key := fmt.Sprintf("port %d", s.Lport)
		if l := f.services.At(key); l != nil && len(s.Owners) > 0 {
			l.add(f.in.Start(), owner(int64(s.Owners[0].Pid), s.Owners[0].Comm), true)
		}
	}
	for _, k := range f.services.Sorted(func(l *leak) int64 { return -l.n }, cmp.Compare[string]) {
		l := f.services.At(k)
		if float64(l.n) < limit {
			return
		}
		v := Finding{Level: Bad, Over: float64(l.n) / limit, At: l.since, Next: "tcpstates --top 50"}
		if l.sock.Addr != 0 {
			v = v.of(&l.sock)
			v.Next = show("sock", &l.sock)
		}
		v.About = k
		v.What = fmt.Sprintf("%s leaks connections: %s stay in CLOSE_WAIT (%s)", l.who, engine.Thousands(l.n), k)
		v.Evidence = fmt.Sprintf("the peer closed them, the application did not; %s since before the recording, the oldest here since %s", engine.Thousands(l.older), at(f.in, l.since))
		found.Add(v)
	}
}
