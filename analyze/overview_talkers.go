package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// talkers sums up what the sockets of each process moved. A socket counts for its owner, whoever
// was on the CPU when a packet of it came.
type talkers struct {
	in    *engine.Input
	calls bool // else TCP's own counts have to do
	socks agg.PerSocket[line.Usage]
	procs agg.Keyed[shape.Process, talker]
	about agg.Keyed[matter, int64] // bytes
	names agg.Intern
	bytes *engine.Bytes
	end   *line.EndBytes
}

// matter is what some sockets of a process are about.
type matter struct {
	shape.Process
	words string
}

// talker is a process, and what its sockets did.
type talker struct {
	tx, rx, sockets int64
	peer            string // what the sockets are about that moved most together
	end             string // the same, as sock takes it
	most            int64
}

func (t *talker) moved() int64 { return t.tx + t.rx }

func newTalkers(in *engine.Input) *talkers {
	f := &talkers{in: in, calls: in.Recorded("sock_io"), bytes: in.Bytes(), end: line.NewEndBytes(in)}
	in.OnEnd(f.ended)
	return f
}

// row counts a row of any event.
func (f *talkers) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	u := f.socks.Of(r.Sock)
	u.Rows++
	switch {
	case f.calls && r.Event.Name == "sock_io":
		u.IO(f.bytes.Moved(r))
	case !f.calls && r.Event.Name == "tcp_state":
		b := f.end.Data(r)
		u.Tx, u.Rx = max(u.Tx, b.Tx), max(u.Rx, b.Rx)
	}
}

func (f *talkers) ended(s *agg.Socket) {
	u := *f.socks.Of(s)
	if u.Rows == 0 || s.Pid == 0 {
		return
	}
	p := shape.Process{Comm: f.names.Get(s.Comm), Pid: s.Pid}
	t := f.procs.At(p)
	if t == nil {
		return
	}
	t.tx, t.rx, t.sockets = t.tx+u.Tx, t.rx+u.Rx, t.sockets+1
	words, at := with(s)
	n := f.about.At(matter{p, f.names.Get(words)})
	if n == nil {
		return
	}
	if *n += u.Tx + u.Rx; *n > t.most {
		t.most, t.peer, t.end = *n, f.names.Get(words), at
	}
}

// with names what a socket is about: the service at its other end, or its own.
func with(s *agg.Socket) (words, at string) {
	switch {
	case s.Serves():
		at = render.Endpoint(s.Laddr, s.Lport)
		return fmt.Sprintf("serves :%d", s.Lport), at
	case s.Rport != 0:
		at = render.Endpoint(s.Raddr, s.Rport)
		return at, at
	}
	return "", ""
}

func (f *talkers) sorted() []shape.Process {
	return f.procs.Sorted(func(t *talker) int64 { return -t.moved() }, shape.Process.Compare)
}

// busiest is where the process that moved most moved most of it, "" if that is not known.
func (f *talkers) busiest() string {
	if keys := f.sorted(); len(keys) > 0 {
		return f.procs.At(keys[0]).end
	}
	return ""
}

type namedTalker struct {
	shape.Process
	*talker
}

var talkerFields = []render.Field[namedTalker]{
	render.Num("pid", func(t *namedTalker) int64 { return t.Pid }).Text("PID", -7),
	render.Text("comm", func(t *namedTalker) string { return t.Comm }).Text("COMM", -15),
	render.Num("tx_bytes", func(t *namedTalker) int64 { return t.tx }).Text("SENT_B", 11).In("bytes"),
	render.Num("rx_bytes", func(t *namedTalker) int64 { return t.rx }).Text("RECV_B", 11).In("bytes"),
	render.Num("sockets", func(t *namedTalker) int64 { return t.sockets }).Text("SOCKS", 5),
	render.TextOr("mostly", func(t *namedTalker) string { return t.peer }).Text("MOSTLY", 0),
}

// show lists the n processes that moved most.
func (f *talkers) show(n int) {
	t := render.ListOf(f.in.Table, render.Spec{Name: "talkers", Title: "who talked most"}, talkerFields...)
	keys := f.sorted()
	for _, k := range keys[:min(n, len(keys))] {
		if p := f.procs.At(k); p.moved() > 0 {
			t.Line(namedTalker{k, p})
		}
	}
}
