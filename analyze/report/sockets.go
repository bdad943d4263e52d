package report

import (
	"cmp"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/scan"
	"netrec/analyze/story"
)

// shownSockets is how many of the busiest and how many of the worst sockets the page has.
const shownSockets = 40

// maxSuspects is how many sockets with findings or slow turns are kept: more than there can be.
const maxSuspects = 256

// use is what a socket did and what went wrong with it.
type use struct {
	rows, tx, rx                 int64
	retrans, drops, zero, failed int64
}

// trouble ranks the worst sockets. A connect that failed is all that its socket did.
func (u *use) trouble() int64 { return u.retrans + u.drops + u.zero + 10*u.failed }

// life is one life of a socket at work.
type life struct {
	use
	tale *tale // nil if its story is not kept
	shut bool  // a window of zero stands
	late bool  // its story gave way to others once
}

// sockets finds the busiest and the worst sockets.
type sockets struct {
	in             *engine.Input
	lives          agg.PerSocket[life]
	tales          *tales
	busiest, worst *agg.Greatest[*tale]
	wanted         func(*agg.Socket) bool
	suspects       []*tale // that the page leads to, or did for a while
	all            int64
	again          *engine.Resent

	bytes *engine.Bytes

	SndCwnd, SndSsthresh, SkSndbuf, SndWnd, RcvWnd scan.Int
	DropReason, Location, OldState, NewState       scan.Str
}

func newSockets(in *engine.Input, wanted func(*agg.Socket) bool) *sockets {
	f := &sockets{in: in, wanted: wanted, again: in.Resent(), bytes: in.Bytes()}
	in.Bind(f)
	// A socket may be in them twice: when its story made room, and at its end.
	f.busiest = agg.NewGreatest(2*shownSockets, func(a, b *tale) int {
		return cmp.Or(cmp.Compare(b.tx+b.rx, a.tx+a.rx), cmp.Compare(b.rows, a.rows), cmp.Compare(a.sock.Serial, b.sock.Serial))
	})
	f.worst = agg.NewGreatest(2*shownSockets, func(a, b *tale) int {
		return cmp.Or(cmp.Compare(b.trouble(), a.trouble()), cmp.Compare(b.rows, a.rows), cmp.Compare(a.sock.Serial, b.sock.Serial))
	})
	f.tales = &tales{teller: story.NewTeller(in), offer: f.offer, lives: &f.lives}
	for _, e := range story.Events {
		in.Use(e, "", f.row)
	}
	in.OnEnd(f.ended)
	return f
}

func (f *sockets) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	l := f.lives.Of(r.Sock)
	l.rows++
	t := f.tales.of(l, r.Sock)
	switch r.Event.Name {
	case "sock_io":
		f.io(l, r)
	case "tcp_retrans":
		n := f.again.Segments(r)
		if l.retrans += n; t != nil && n > 0 {
			t.course.Mark(r.TS, n)
		}
	case "skb_drop":
		if !findings.LeftOver(r.Str(f.DropReason), r.Str(f.Location)) {
			l.drops++
		}
	case "tcp_state":
		if r.Str(f.OldState) == "SYN_SENT" && r.Str(f.NewState) == "CLOSE" {
			l.failed++
		}
	case "tcp_rcv_est":
		shut := r.Int(f.SndWnd) == 0 || r.Int(f.RcvWnd) == 0
		if shut && !l.shut {
			l.zero++
		}
		if l.shut = shut; t != nil {
			t.course.Add(courseRoom, r.TS, r.Int(f.SndCwnd), r.Int(f.SndSsthresh), r.Int(f.SkSndbuf))
		}
	}
	if t != nil {
		f.tales.teller.Add(&t.telling, r, t.line)
	}
}

func (f *sockets) io(l *life, r *engine.Row) {
	if n, sent := f.bytes.Moved(r); sent {
		l.tx += n
	} else {
		l.rx += n
	}
}

func (f *sockets) ended(s *agg.Socket) {
	l := f.lives.Of(s)
	if l.rows == 0 {
		return
	}
	f.all++
	t := l.tale
	if t == nil {
		t = &tale{late: true}
	}
	// One that was offered before and did nothing since is where it belongs.
	if t.close(s, l); !t.offered || t.rows != t.offeredAt {
		f.offer(t)
	}
	if f.wanted(s) {
		f.suspect(t)
	}
}

// suspect keeps a socket that a finding or a slow turn is about. Worse ones may take its place, so
// that those of which none is left have to go.
func (f *sockets) suspect(t *tale) {
	if f.suspects = append(f.suspects, t); len(f.suspects) > maxSuspects {
		f.suspects = slices.DeleteFunc(f.suspects, func(t *tale) bool { return !f.wanted(&t.sock) })
	}
}

// most lists the greatest, each once.
func most(h *agg.Greatest[*tale]) []*tale {
	var all []*tale
	for _, t := range h.Sorted() {
		if !slices.Contains(all, t) && len(all) < shownSockets {
			all = append(all, t)
		}
	}
	return all
}

// offer lets a socket be among the busiest and the worst.
func (f *sockets) offer(t *tale) {
	t.offered, t.offeredAt = true, t.rows
	f.busiest.Add(t)
	if t.trouble() > 0 {
		f.worst.Add(t)
	}
}
