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
	t     *render.List[fullSock]
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
	f := &fullest{best: agg.NewGreatest(max(1, n), func(a, b fullSock) int {
		return cmp.Or(cmp.Compare(b.overflows+b.drops, a.overflows+a.drops), cmp.Compare(b.permille, a.permille), cmp.Compare(a.Serial, b.Serial))
	})}
	in.Bind(f)
	f.t = render.ListOf(in.Table, render.Spec{Name: "fullest", Title: "fullest receive buffers"}, fullFields(in)...)
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

func fullFields(in *engine.Input) []render.Field[fullSock] {
	return slices.Concat([]render.Field[fullSock]{
		render.Address("sock", func(s *fullSock) uint64 { return s.Addr }).Text("SOCK", -18),
		render.NonZero("pid", func(s *fullSock) int64 { return s.Pid }).Text("PID", -7),
		render.TextOr("comm", func(s *fullSock) string { return s.Comm }).Text("COMM", -15).Cut(),
	}, render.Within(func(s *fullSock) *agg.Socket { return &s.Socket }, line.EndFields...), []render.Field[fullSock]{
		render.Num("most_bytes", func(s *fullSock) int64 { return s.most }).Text("MOST_B", 9).In("bytes"),
		render.NumOr("limit_bytes", func(s *fullSock) (int64, bool) { return s.limit, s.limit > 0 }).Text("LIMIT_B", 9).In("bytes"),
		render.NumOr("fill_percent", func(s *fullSock) (int64, bool) { return s.permille, s.limit > 0 }).As(render.Fixed).Digits(1).Text("FILL%", 6).In("percent"),
		render.NumOr("at_s", func(s *fullSock) (int64, bool) { return (s.at - in.Start()) / 1e6, s.at != 0 }).As(render.Fixed).Digits(3).Text("AT(s)", 9).In("s"),
		render.Num("samples", func(s *fullSock) int64 { return s.samples }).Text("SAMPLES", 8),
		render.Num("overflows", func(s *fullSock) int64 { return s.overflows }).Text("OVERFL", 6),
		render.Num("drops", func(s *fullSock) int64 { return s.drops }).Text("DROPS", 6),
		render.TextOr("drop_reasons", func(s *fullSock) string { return s.reasons.String() }).Text("REASONS", 0),
		render.Num("generation", func(s *fullSock) int64 { return int64(s.Gen) }),
		render.Num("netns", func(s *fullSock) int64 { return s.Netns }),
	})
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
		f.t.Line(s)
	}
}
