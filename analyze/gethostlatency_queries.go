package analyze

import (
	"cmp"
	"maps"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// query is a datagram to a name server and the one that came back.
type query struct {
	began, ended int64
	who          shape.Process
	server       string
}

// asked are the queries of a socket that have no answer yet, oldest first.
type asked struct {
	at [8]int64
	n  int
}

// queries pairs what is sent to port 53 with what comes from it, per socket and in order:
// the recording has no content by which to tell answers apart.
type queries struct {
	in      *engine.Input
	open    agg.PerSocket[asked]
	done    map[int64][]query // by thread
	kept    int
	refused int64
	mute    int64 // without an answer
	names   agg.Intern

	bytes *engine.Bytes

	Ret, Pid, Tid, DestPort, PeerPort, Rport scan.Int
	Dir, Comm, DestAddr, PeerAddr, Raddr     scan.Str
}

func newQueries(in *engine.Input, without string) *queries {
	f := &queries{in: in, done: map[int64][]query{}, bytes: in.Bytes()}
	in.Bind(f)
	in.Sockets("")
	in.Use("udp_msg", without, f.msg)
	in.Use("tcp_msg", "", f.msg)
	in.OnEnd(func(s *agg.Socket) { f.mute += int64(f.open.Of(s).n) })
	return f
}

func (f *queries) msg(r *engine.Row) {
	send := r.Str(f.Dir) == "send"
	addr, port := r.Str(f.PeerAddr), r.Int(f.PeerPort)
	if send {
		addr, port = r.Str(f.DestAddr), r.Int(f.DestPort)
	}
	if port == 0 {
		addr, port = r.Str(f.Raddr), r.Int(f.Rport)
	}
	if r.Sock == nil || port != line.DNSPort || r.Int(f.Ret) <= 0 {
		return
	}
	a := f.open.Of(r.Sock)
	switch {
	case send && a.n < len(a.at):
		a.at[a.n] = r.TS
		a.n++
	case !send && a.n > 0 && !f.bytes.Peeked(r):
		f.add(r.Int(f.Tid), query{a.at[0], r.TS, shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, f.names.Get(addr)})
		copy(a.at[:], a.at[1:a.n])
		a.n--
	}
}

func (f *queries) add(tid int64, q query) {
	if f.kept >= agg.MaxFlows {
		f.refused++
		return
	}
	f.kept++
	f.done[tid] = append(f.done[tid], q)
}

// explained takes away the queries that a lookup of the thread made.
func (f *queries) explained(tid, from, to int64) {
	qs := f.done[tid]
	left := slices.DeleteFunc(qs, func(q query) bool { return q.began >= from && q.ended <= to })
	if f.kept -= len(qs) - len(left); len(left) == 0 {
		delete(f.done, tid)
	} else {
		f.done[tid] = left
	}
}

// finish lists the queries that no lookup explains, or adds them to the load.
func (f *queries) finish(a *render.Answer, load *lookupLoad) {
	all := slices.SortedFunc(func(yield func(query) bool) {
		for qs := range maps.Values(f.done) {
			for _, q := range qs {
				if !yield(q) {
					return
				}
			}
		}
	}, func(a, b query) int {
		return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.began, b.began), a.who.Compare(b.who), cmp.Compare(a.server, b.server))
	})
	ended, took := func(q *query) int64 { return q.ended }, func(q *query) int64 { return q.ended - q.began }
	t := render.ListOf(f.in.Table, render.Spec{Name: "queries", Title: "answers from port 53 outside of lookups through the C library"},
		line.TimeOfDay(f.in, ended).Text("TIME", -9),
		render.Num("pid", func(q *query) int64 { return q.who.Pid }).Text("PID", -7),
		render.Text("comm", func(q *query) string { return q.who.Comm }).Text("COMM", -16),
		hundredths("lat_ms", "LATms", took),
		render.Text("server", func(q *query) string { return q.server }).Text("SERVER", 0),
		render.Num("dur_ns", took).In("ns"),
		render.Num("ts_ns", ended).In("ns"))
	for _, q := range all {
		if load != nil {
			load.add(q.began, q.ended, false)
		} else {
			t.Line(q)
		}
	}
	if f.mute > 0 {
		a.Note(engine.Plural(f.mute, "query", "queries") + " to port 53 had no answer in the recording")
	}
	if f.refused > 0 {
		a.Note(engine.Plural(f.refused, "answer", "answers") + " from port 53 not listed: too many")
	}
}
