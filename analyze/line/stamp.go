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

// Columns are the time columns, in the widths of the BCC tools.
func (s *Stamp) Columns(width int) []render.Column {
	var cs []render.Column
	if s.clock {
		cs = append(cs, render.Col("time", render.Clock).Text("TIME", -8).ForPeople())
	}
	if s.rel {
		cs = append(cs, render.Col("time_s", render.Fixed).Digits(s.digits).Text("TIME(s)", width).In("s"))
	}
	return cs
}

// Begin notes the time that the originals count from, if it is the first.
func (s *Stamp) Begin(ts int64) {
	if s.First == 0 {
		s.First = ts
	}
}

// Put fills them. TIME(s) counts from the start of the recording and is never later than the row, so
// that --from takes it.
func (s *Stamp) Put(t *render.Table, ts int64) *render.Table {
	s.Begin(ts)
	if s.clock {
		t.Int(s.in.Local(ts))
	}
	switch {
	case s.rel && s.Compat:
		t.Int(render.Round(ts-s.First, 1e9, s.digits))
	case s.rel:
		unit := int64(1e9)
		for range s.digits {
			unit /= 10
		}
		t.Int((ts - s.in.Start()) / unit)
	}
	return t
}
