package report

import (
	"cmp"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/story"
)

// Bounds of stories.
const (
	maxTales   = 1024 // of sockets that may still have rows
	taleLines  = 60   // at the beginning of a story, and as many at its end
	courseRoom = 400  // buckets of the picture of its windows
)

// tale is the story of a socket, and its windows.
type tale struct {
	use
	sock    agg.Socket
	live    *agg.Socket // while it lasts
	telling story.Telling
	head    []story.Line
	tail    []story.Line // a ring once it is full
	lines   int64
	course  agg.Course
	late    bool // its beginning is missing
	offered bool

	offeredAt int64 // rows it had then
	over      bool
}

// line keeps a line: the first and the last ones.
func (t *tale) line(l story.Line) {
	l.Comm = strings.Clone(l.Comm)
	switch n := t.lines; {
	case n < taleLines:
		t.head = append(t.head, l)
	case len(t.tail) < taleLines:
		t.tail = append(t.tail, l)
	default:
		t.tail[n%taleLines] = l
	}
	t.lines++
}

// told are the lines that were kept, and how many are missing before the last ones.
func (t *tale) told() (head, tail []story.Line, cut int64) {
	if len(t.tail) < taleLines {
		return t.head, t.tail, 0
	}
	at := int(t.lines % taleLines)
	return t.head, slices.Concat(t.tail[at:], t.tail[:at]), t.lines - 2*taleLines
}

// close ends the tale.
func (t *tale) close(s *agg.Socket, l *life) {
	t.sock, t.use, t.late, t.live = *s, l.use, t.late || l.late, nil
	t.telling.Flush(t.line)
	t.over = true
}

// tales keeps stories of a bounded number of sockets. Of those that ended, who is neither
// among the busiest nor the worst is forgotten; of the others, who did least.
type tales struct {
	teller *story.Teller
	lives  *agg.PerSocket[life]
	offer  func(*tale)
	open   []*tale
	floor  int64 // who did less when room was made does not come back
}

// of is the tale of a socket, nil if there is no room for it.
func (f *tales) of(l *life, s *agg.Socket) *tale {
	if l.tale != nil || l.late && l.weight() <= f.floor {
		return l.tale
	}
	if len(f.open) >= maxTales {
		f.shed()
	}
	l.tale = &tale{live: s, late: l.late}
	f.open = append(f.open, l.tale)
	return l.tale
}

// weight is how much a socket has to tell.
func (u *use) weight() int64 { return u.rows + 100*u.trouble() }

// shed makes room: what is over goes first, then the half with least to tell.
func (f *tales) shed() {
	f.open = slices.DeleteFunc(f.open, func(t *tale) bool {
		if t.live != nil && t.live.Closed != 0 {
			// A row that still comes, such as that of close(2), finds it again.
			t.sock, t.use = *t.live, f.lives.Of(t.live).use
			f.offer(t)
			return true
		}
		return t.over
	})
	if len(f.open) < maxTales/2 {
		return
	}
	weight := func(t *tale) int64 { return f.lives.Of(t.live).weight() }
	slices.SortStableFunc(f.open, func(a, b *tale) int { return cmp.Compare(weight(b), weight(a)) })
	for _, t := range f.open[maxTales/2:] {
		l := f.lives.Of(t.live)
		f.floor = max(f.floor, l.weight())
		l.tale, l.late = nil, true
	}
	clear(f.open[maxTales/2:])
	f.open = f.open[:maxTales/2]
}
