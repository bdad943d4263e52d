package analyze

import (
	"cmp"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// ipVersion is 4 or 6, by the form of an address.
func ipVersion(addr string) int64 {
	if strings.Contains(addr, ":") {
		return 6
	}
	return 4
}

// endOf is an end as the BCC tools write it, without brackets around IPv6.
func endOf(addr string, port int64) string { return addr + ":" + strconv.FormatInt(port, 10) }

// familyOptions are the options -4 and -6 of the BCC tools.
var familyOptions = []engine.Option{
	{Name: "ipv4", Short: "4", Kind: engine.Flag, Doc: "IPv4 only"},
	{Name: "ipv6", Short: "6", Kind: engine.Flag, Doc: "IPv6 only"},
}

// familyFilter is the choice made with them; neither means both.
type familyFilter struct{ v4, v6 bool }

func newFamilyFilter(in *engine.Input) familyFilter {
	return familyFilter{in.Flag("ipv4"), in.Flag("ipv6")}
}

// wants reports whether lines with this address are shown.
func (f familyFilter) wants(addr string) bool {
	return f.v4 == f.v6 || f.v4 == (ipVersion(addr) == 4)
}

// stampOptions are the options -T and -t of the BCC tools.
var stampOptions = []engine.Option{
	{Name: "time", Short: "T", Kind: engine.Flag, Doc: "time of day"},
	{Name: "timestamp", Short: "t", Kind: engine.Flag, Doc: "seconds since the first line"},
}

// stamp is the time columns of a table as these options want them.
type stamp struct {
	in         *engine.Input
	clock, rel bool
	digits     int
	first      int64
}

// newStamp reads the options that the analysis declares among stampOptions.
func newStamp(in *engine.Input, clock, rel bool, digits int) *stamp {
	return &stamp{in: in, clock: clock, rel: rel, digits: digits}
}

// columns are the time columns, in the widths of the BCC tools.
func (s *stamp) columns(width int) []render.Column {
	var cs []render.Column
	if s.clock {
		cs = append(cs, render.Col("time", render.Clock).Text("TIME", -8).ForPeople())
	}
	if s.rel {
		cs = append(cs, render.Col("time_s", render.Fixed).Digits(s.digits).Text("TIME(s)", width).In("s"))
	}
	return cs
}

// begin notes the time that others are counted from, if it is the first.
func (s *stamp) begin(ts int64) {
	if s.first == 0 {
		s.first = ts
	}
}

// put fills them; the first time given is the zero of TIME(s).
func (s *stamp) put(t *render.Table, ts int64) *render.Table {
	s.begin(ts)
	if s.clock {
		t.Int(s.in.Local(ts))
	}
	if s.rel {
		t.Int(render.Round(ts-s.first, 1e9, s.digits))
	}
	return t
}

// mapped reports an IPv4 address, also in its form for IPv6 sockets.
func mapped(addr string) bool {
	return addr != "" && (ipVersion(addr) == 4 || strings.HasPrefix(addr, "::ffff:"))
}

// destination is where a socket that is not connected sent to.
type destination struct {
	serial int64
	addr   string
	port   int64
}

func (d destination) compare(o destination) int {
	return cmp.Or(cmp.Compare(d.serial, o.serial), cmp.Compare(d.addr, o.addr), cmp.Compare(d.port, o.port))
}

// dnsPort is the port of name servers.
const dnsPort = 53

// unseenEnd is why a life is cut whose end is not in the recording.
const unseenEnd = "end not seen"

// unborn says why a life has no beginning: it is older than the recording, unless the row
// may be lost.
func unborn(s *agg.Socket, gaps *agg.Gaps) string {
	if !s.Older && gaps.Between(0, s.First) {
		return "beginning not seen"
	}
	return "began before"
}
