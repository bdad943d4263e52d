package analyze

import (
	"cmp"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// fullest lists the sockets whose receive buffer was fullest, and what that cost.
type fullest struct {
	in    *engine.Input
	t     *render.Table
	socks agg.PerSocket[fullness]
	best  *agg.Greatest[fullSock]
	names agg.Intern

	DropReason scan.Str
}

// fullness is how full the buffer of a socket was.
type fullness struct {
	samples, most, limit, at int64 // limit: the newest that is known
	permille, peak           int64 // peak: the most since the last read
	overflows, drops         int64
	reasons                  line.Outcomes // of the drops
}

type fullSock struct {
	agg.Socket
	fullness
}

func newFullest(in *engine.Input, n int) *fullest {
	f := &fullest{in: in, best: agg.NewGreatest(max(1, n), func(a, b fullSock) int {
		return cmp.Or(cmp.Compare(b.overflows+b.drops, a.overflows+a.drops), cmp.Compare(b.permille, a.permille), cmp.Compare(a.Serial, b.Serial))
	})}
	in.Bind(f)
	f.t = in.Table(render.Spec{Name: "fullest", Title: "fullest receive buffers", Columns: slices.Concat([]render.Column{render.Col("sock", render.Addr).Text("SOCK", -18),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -15).Cut()}, line.Ends(),
		[]render.Column{render.Col("most_bytes", render.Int).Text("MOST_B", 9).In("bytes"), render.Col("limit_bytes", render.Int).Text("LIMIT_B", 9).In("bytes"),
			render.Col("fill_percent", render.Fixed).Digits(1).Text("FILL%", 6).In("percent"), render.Col("at_s", render.Fixed).Digits(3).Text("AT(s)", 9).In("s"),
			render.Col("samples", render.Int).Text("SAMPLES", 8), render.Col("overflows", render.Int).Text("OVERFL", 6), render.Col("drops", render.Int).Text("DROPS", 6),
			render.Col("drop_reasons", render.String).Text("REASONS", 0), render.Col("generation", render.Int), render.Col("netns", render.Int)})})
	in.OnEnd(func(s *agg.Socket) {
		v := *f.socks.Of(s)
		if v.limit > 0 { // nobody read what came last; a queue beyond the limit has raised it, and is full
			v.permille = max(v.permille, min(1000, 1000*v.peak/v.limit))
		}
		if v.most > 0 || v.overflows+v.drops > 0 {
			f.best.Add(fullSock{*s, v})
		}
	})
	return f
}

// read takes what the queue held when the program read and the limit, and returns the most that
// it held when a segment arrived since the read before, 0 if none did.
func (f *fullest) read(r *engine.Row, held, limit int64) (peak int64) {
	if r.Sock == nil {
		return 0
	}
	v := f.socks.Of(r.Sock)
	v.sample(r.TS, held)
	peak, v.peak = v.peak, 0
	if limit > 0 {
		v.limit, v.permille = limit, max(v.permille, 1000*max(held, peak)/limit)
	}
	return peak
}

// arrived takes what the queue held when a segment came. Its row does not know the limit, and
// the kernel raises it: the next read knows.
func (f *fullest) arrived(r *engine.Row, held int64) {
	if r.Sock != nil {
		v := f.socks.Of(r.Sock)
		v.sample(r.TS, held)
		v.peak = max(v.peak, held)
	}
}

func (v *fullness) sample(ts, held int64) {
	if v.samples++; held > v.most {
		v.most, v.at = held, ts
	}
}

func (f *fullest) overflow(r *engine.Row) {
	if r.Sock != nil {
		f.socks.Of(r.Sock).overflows++
	}
}

// drop counts packets of a socket that were dropped for want of room.
func (f *fullest) drop(r *engine.Row, s *agg.Socket) {
	if s == nil {
		return
	}
	reason := r.Str(f.DropReason)
	for _, word := range [...]string{"RCVBUFF", "PROTO_MEM", "BACKLOG", "RCVQ", "ZEROWINDOW"} {
		if strings.Contains(reason, word) {
			f.socks.Of(s).drop(f.names.Get(reason))
			return
		}
	}
}

// maxReasons is how many reasons of one socket are told apart; kernels have fewer.
const maxReasons = 8

func (v *fullness) drop(reason string) {
	if v.drops++; v.reasons == nil {
		v.reasons = line.Outcomes{}
	}
	if _, ok := v.reasons[reason]; !ok && len(v.reasons) >= maxReasons {
		reason = "others"
	}
	v.reasons[reason]++
}

// Finish lists them.
func (f *fullest) Finish(*render.Answer) {
	for _, s := range f.best.Sorted() {
		line.PutEnds(f.t.Uint(s.Addr).IntOr(s.Pid, s.Pid != 0).StrOr(s.Comm), &s.Socket)
		f.t.Int(s.most).IntOr(s.limit, s.limit > 0).IntOr(s.permille, s.limit > 0).IntOr((s.at-f.in.Start())/1e6, s.at != 0).Int(s.samples).Int(s.overflows).Int(s.drops).StrOr(s.reasons.String())
		f.t.Int(int64(s.Gen)).Int(s.Netns).End()
	}
}
