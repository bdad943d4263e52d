package analyze

import (
	"cmp"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// fullest lists the sockets whose receive buffer was fullest, and what that cost.
type fullest struct {
	in    *engine.Input
	t     *render.Table
	socks agg.PerSocket[fullness]
	best  *agg.Heap[fullSock]

	reason scan.Col
}

// fullness is how full the buffer of a socket was.
type fullness struct {
	samples, most, limit, at int64 // limit: the newest that is known
	permille                 int64
	overflows, drops         int64
}

type fullSock struct {
	agg.Socket
	fullness
}

func newFullest(in *engine.Input, n int) *fullest {
	f := &fullest{in: in, reason: in.Str("drop_reason"), best: agg.NewHeap(max(1, n), func(a, b fullSock) int {
		return cmp.Or(cmp.Compare(b.overflows+b.drops, a.overflows+a.drops), cmp.Compare(b.permille, a.permille), cmp.Compare(a.Serial, b.Serial))
	})}
	f.t = in.Table(render.Spec{Name: "fullest", Title: "fullest receive buffers", Columns: join([]render.Column{render.Col("sock", render.Addr).Text("SOCK", -18),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -15).Cut()}, ends(),
		[]render.Column{render.Col("most_bytes", render.Int).Text("MOST_B", 9).In("bytes"), render.Col("limit_bytes", render.Int).Text("LIMIT_B", 9).In("bytes"),
			render.Col("fill_percent", render.Fixed).Digits(1).Text("FILL%", 6).In("percent"), render.Col("at_s", render.Fixed).Digits(3).Text("AT(s)", 9).In("s"),
			render.Col("samples", render.Int).Text("SAMPLES", 8), render.Col("overflows", render.Int).Text("OVERFL", 6), render.Col("drops", render.Int).Text("DROPS", 6),
			render.Col("generation", render.Int), render.Col("netns", render.Int)})})
	in.OnEnd(func(s *agg.Socket) {
		v := *f.socks.Of(s)
		if v.limit > 0 { // segments may come before the limit is known
			v.permille = max(v.permille, 1000*v.most/v.limit)
		}
		if v.most > 0 || v.overflows+v.drops > 0 {
			f.best.Add(fullSock{*s, v})
		}
	})
	return f
}

// sample takes what the queue of the row's socket held. Rows of segments do not know the
// limit; the last one that a read saw stands in.
func (f *fullest) sample(r *engine.Row, held, limit int64) {
	if r.Sock == nil {
		return
	}
	v := f.socks.Of(r.Sock)
	v.samples++
	if limit > 0 {
		v.limit = limit
	}
	if held > v.most {
		v.most, v.at = held, r.TS
	}
	if v.limit > 0 {
		v.permille = max(v.permille, 1000*held/v.limit)
	}
}

func (f *fullest) overflow(r *engine.Row) {
	if r.Sock != nil {
		f.socks.Of(r.Sock).overflows++
	}
}

// drop counts packets that were dropped for want of room.
func (f *fullest) drop(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	reason := r.Str(f.reason)
	for _, word := range [...]string{"RCVBUFF", "PROTO_MEM", "BACKLOG", "RCVQ", "ZEROWINDOW"} {
		if strings.Contains(reason, word) {
			f.socks.Of(r.Sock).drops++
			return
		}
	}
}

// Finish lists them.
func (f *fullest) Finish(*render.Answer) {
	for _, s := range f.best.Sorted() {
		putEnds(f.t.Uint(s.Addr).IntOr(s.Pid, s.Pid != 0).StrOr(s.Comm), &s.Socket)
		f.t.Int(s.most).IntOr(s.limit, s.limit > 0).IntOr(s.permille, s.limit > 0).IntOr((s.at-f.in.Start())/1e6, s.at != 0).Int(s.samples).Int(s.overflows).Int(s.drops)
		f.t.Int(int64(s.Gen)).Int(s.Netns).End()
	}
}
