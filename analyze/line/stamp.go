package line

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// FamilyOptions are the options -4 and -6 of the BCC tools.
var FamilyOptions = []engine.Option{
	{Name: "ipv4", Short: "4", Kind: engine.Flag, Doc: "IPv4 only"},
	{Name: "ipv6", Short: "6", Kind: engine.Flag, Doc: "IPv6 only"},
}

// FamilyFilter is the choice made with them; neither means both.
type FamilyFilter struct{ v4, v6 bool }

// NewFamilyFilter reads the options.
func NewFamilyFilter(in *engine.Input) FamilyFilter {
	return FamilyFilter{in.Flag("ipv4"), in.Flag("ipv6")}
}

// Wants reports whether lines with this address are shown.
func (f FamilyFilter) Wants(addr string) bool {
	return f.v4 == f.v6 || f.v4 == (IPVersion(addr) == 4)
}

// StampOptions are the options -T and -t of the BCC tools.
var StampOptions = []engine.Option{
	{Name: "time", Short: "T", Kind: engine.Flag, Doc: "time of day"},
	{Name: "timestamp", Short: "t", Kind: engine.Flag, Doc: "seconds since the start"},
}

// Stamp is the time columns of a table as these options want them.
type Stamp struct {
	in         *engine.Input
	clock, rel bool
	digits     int
	Compat     bool // as the originals do: TIME(s) counts from the first line
	First      int64
}

// NewStamp reads the options that the analysis declares among stampOptions.
func NewStamp(in *engine.Input, clock, rel bool, digits int) *Stamp {
	return &Stamp{in: in, clock: clock, rel: rel, digits: digits}
}

// TimeOfDay is the column TIME of a table, for people.
func TimeOfDay[T any](in *engine.Input, ts func(*T) int64) render.Field[T] {
	return render.Num("time", func(row *T) int64 { return in.Local(ts(row)) }).As(render.Clock).Text("TIME", -8).ForPeople()
}

// StampFields are the time columns of a row, in the widths of the BCC tools.
func StampFields[T any](s *Stamp, width int, ts func(*T) int64) (fs []render.Field[T]) {
	if s.clock {
		fs = append(fs, TimeOfDay(s.in, ts))
	}
	if s.rel {
		fs = append(fs, render.Num("time_s", func(row *T) int64 { return s.since(ts(row)) }).As(render.Fixed).Digits(s.digits).Text("TIME(s)", width).In("s"))
	}
	return fs
}

// since is TIME(s). It counts from the start of the recording and is never later than the row, so
// that --from takes it.
func (s *Stamp) since(ts int64) int64 {
	if s.Begin(ts); s.Compat {
		return render.Round(ts-s.First, 1e9, s.digits)
	}
	unit := int64(1e9)
	for range s.digits {
		unit /= 10
	}
	return (ts - s.in.Start()) / unit
}

// Begin notes the time that the originals count from, if it is the first.
func (s *Stamp) Begin(ts int64) {
	if s.First == 0 {
		s.First = ts
	}
}
