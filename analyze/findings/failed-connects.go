package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var failedConnects = Rule{
	Name: "failed-connects", Default: 1, Unit: Count, Any: []string{"sys_connect", "tcp_state"},
	About: "TCP connects to one place that fail with the same error",
	New:   newFailedConnects,
}

// Results of connect(2) that are no failure: it goes on, goes on still, is done already.
const einprogress, ealready, eisconn = 115, 114, 106

// target is where a connect went and how it failed.
type target struct {
	addr  string
	port  int64
	error string
}

func (t target) compare(o target) int {
	return cmp.Or(cmp.Compare(t.addr, o.addr), cmp.Compare(t.port, o.port), cmp.Compare(t.error, o.error))
}

// failures are the connects to a target.
type failures struct {
	n, first int64
	sock     agg.Socket
	who      agg.Top[string]
}

// connects finds failures by the change of state and by what the call returned, whichever
// comes first: of a non-blocking connect the call tells nothing.
type connects struct {
	all    agg.Keyed[target, failures]
	failed agg.PerSocket[bool]
	names  agg.Intern

	ret, family, kind, dest, port, from, to, err, pid scan.Col
}

func newFailedConnects(in *engine.Input, limit float64, found *Shelf) func() {
	f := &connects{ret: in.Int("ret"), family: in.Str("family"), kind: in.Str("sock_type"), dest: in.Str("dest_addr"), port: in.Int("dest_port"),
		from: in.Str("old_state"), to: in.Str("new_state"), err: in.Int("sk_err"), pid: in.Int("pid")}
	in.Use("tcp_state", "", f.state)
	in.Use("sys_connect", "", f.call)
	return func() {
		for _, t := range f.all.Sorted(func(v *failures) int64 { return -v.n }, target.compare) {
			v := f.all.At(t)
			if float64(v.n) < limit {
				return
			}
			who := ""
			for _, e := range v.who.Best(1, cmp.Compare[string]) {
				who = fmt.Sprintf("; %s by %s", engine.Group(e.Count), e.Key)
			}
			found.Add(Finding{Level: Bad, Over: float64(v.n) / limit, At: v.first, Sock: v.sock,
				What:     fmt.Sprintf("%s to %s failed: %s", many(v.n, "connect", "connects"), render.Endpoint(t.addr, t.port), t.error),
				Evidence: "the first at " + at(in, v.first) + who,
				Next:     fmt.Sprintf("soconnect --port %d", t.port)})
		}
	}
}

// state takes a handshake that ended in CLOSE. The owner is known once the call returns.
func (f *connects) state(r *engine.Row) {
	if r.Sock == nil || r.Str(f.from) != "SYN_SENT" || r.Str(f.to) != "CLOSE" {
		return
	}
	why := "closed before an answer came"
	if e := r.Int(f.err); e != 0 {
		why = render.Errno(-e)
	}
	f.add(r, r.Sock.Raddr, r.Sock.Rport, why)
}

func (f *connects) call(r *engine.Row) {
	ret, family := r.Int(f.ret), r.Str(f.family)
	if r.Sock == nil || ret >= 0 || family != "inet" && family != "inet6" || r.Str(f.kind) != "stream" {
		return
	}
	switch -ret {
	case einprogress, ealready, eisconn:
		return
	}
	f.add(r, r.Str(f.dest), r.Int(f.port), render.Errno(ret))
}

func (f *connects) add(r *engine.Row, addr string, port int64, why string) {
	failed := f.failed.Of(r.Sock)
	if *failed {
		return
	}
	*failed = true
	v := f.all.At(target{f.names.Get(addr), port, f.names.Get(why)})
	if v == nil {
		return
	}
	if v.n++; v.n == 1 {
		v.first, v.sock = r.TS, *r.Sock
	}
	if r.Sock.Pid != 0 {
		v.who.Add(f.names.Get(owner(r.Sock.Pid, r.Sock.Comm)), 1)
	}
}
