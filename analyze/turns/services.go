package turns

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// Services sums up where the time of connections went, by what they are about.
type Services struct {
	*Follower
	Turns int64

	names agg.Intern
	by    agg.Keyed[string, Served]
	each  func(*Followed, *Turn)
}

// Served is the time of one service.
type Served struct {
	Name   string
	Turns  int64
	Length agg.Quantiles // us, of turns that have one
	Split  Split
}

// Busy is the time in which somebody owed something.
func (s *Served) Busy() int64 { return s.Split.Total() - s.Split[Idle] }

// ByService follows all connections. Every turn is also handed to each, which may be nil.
func ByService(in *engine.Input, each func(*Followed, *Turn)) *Services {
	f := &Services{each: each}
	f.Follower = Follow(in, f.turned, func(c *Followed) {
		if s := f.of(c); s != nil {
			s.Split.Add(&c.Split)
		}
	})
	return f
}

func (f *Services) of(c *Followed) *Served {
	name := f.names.Get(Service(c.Sock))
	s := f.by.At(name)
	if s != nil {
		s.Name = name
	}
	return s
}

func (f *Services) turned(c *Followed, t *Turn) {
	f.Turns++
	if s := f.of(c); s != nil {
		if s.Turns++; !t.Overlap && !t.Unfinished {
			s.Length.Add((t.End - t.Start) / 1000)
		}
	}
	if f.each != nil {
		f.each(c, t)
	}
}

// Any reports whether the time of any connection is known: recordings of older versions lack what it
// takes.
func (f *Services) Any() bool { return f.by.Len() > 0 && (f.Lacking == 0 || f.Turns > 0) }

// Most are the n services with most time in which somebody owed something, and how many others have such.
func (f *Services) Most(n int) (most []*Served, more int) {
	for _, k := range f.by.Sorted(func(s *Served) int64 { return -s.Busy() }, cmp.Compare[string]) {
		if s := f.by.At(k); s.Busy() > 0 {
			most = append(most, s)
		}
	}
	more = max(0, len(most)-n)
	return most[:len(most)-more], more
}
