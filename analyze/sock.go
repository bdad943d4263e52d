package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/story"
)

var _ = register(engine.Analysis{
	Name:     "sock",
	Aliases:  []string{"socket"},
	Group:    groupStart,
	Arg:      "SOCKET",
	ArgFrom:  "socks --sort bytes",
	Find:     findSocket,
	Words:    checkPick,
	Question: "what happened to one socket: who owns it, how did it live, what did it do when?",
	Main:     []string{"events"},
	Help: `SOCKET is an end such as 10.0.0.1:443, [::1]:443 or :443, both ends (local first) as in
10.0.0.1:40000-10.0.0.2:443, the pid of the owner, an IP address, or the kernel address of
the socket. If several sockets match, sock lists them, each with its command.

Every life of the socket address, with its identity, owner, duration and totals; where the
time of each went, and its first turns (waits says what that means); then one timeline of all
of them. --gen selects one life of an address that was reused. Frequent
events (I/O, segments, transmit attempts) between two other events are summed up, one line
for each kind; --raw prints every row instead, with all its columns.
Formats for programs also have the table events: one row per event of the socket, with
every column that applies. csv prints that table; --table lives or timeline selects another.`,
	Example: "sock 10.0.0.1:443",
	Options: []engine.Option{{Name: "limit", Short: "l", Kind: engine.Number, Default: "1000", Doc: "maximum lines of the timeline"},
		{Name: "gen", Short: "g", Kind: engine.Number, Default: "0", Doc: "only this life of the address; 0 for all"},
		{Name: "raw", Short: "r", Kind: engine.Flag, Doc: "every row instead of the timeline"}},
	New: newSock,
})

// sockLife is a life of a socket, and what it did in it.
type sockLife = line.UsedSock

type sock struct {
	in    *engine.Input
	lives *render.List[sockLife]
	line  *timeline
	gen   int // 0 for all
	sums  agg.PerSocket[line.Usage]
	again *engine.Resent
	waits *sockWaits
}

func newSock(in *engine.Input) engine.Fold {
	f := &sock{in: in, again: in.Resent(), gen: in.Number("gen")}
	in.OnlySock(in.Addr())
	newSockEvents(in, f.wants)
	if in.Flag("raw") && !in.Answer.Shows("events") { // formats for programs have them anyway
		line.NewRows(in, line.EventNames(false), nil, f.wants)
	}
	in.Sockets("what it did before is not known, should it be one of them")
	for _, e := range story.Events {
		in.Use(e, "the time line has gaps", f.row)
	}
	in.OnEnd(f.ended)
	f.lives = render.ListOf(in.Table, render.Spec{Name: "lives", Look: render.Record}, f.fields()...)
	f.lives.Hold(1 << 16)
	f.waits = newSockWaits(in, f.wants)
	f.line = newTimeline(in, max(1, in.Number("limit")))
	return f
}

// wants reports whether a life of the address was asked for.
func (f *sock) wants(s *agg.Socket) bool { return s != nil && (f.gen == 0 || s.Gen == f.gen) }

func (f *sock) row(r *engine.Row) {
	if !f.wants(r.Sock) {
		return
	}
	u := f.sums.Of(r.Sock)
	u.Rows++
	switch r.Event.Name {
	case "sock_io":
		u.IO(f.line.Moved(r))
	case "tcp_retrans":
		u.Retrans += f.again.Segments(r)
	case "skb_drop":
		u.Drops++
	}
	f.line.add(r)
}

func (f *sock) ended(s *agg.Socket) {
	f.line.flush()
	u := *f.sums.Of(s)
	if u.Rows == 0 || !f.wants(s) {
		return
	}
	f.lives.Line(sockLife{Socket: *s, Usage: u})
}

func (f *sock) fields() []render.Field[sockLife] {
	text := func(name, head string, of func(*sockLife) string) render.Field[sockLife] {
		return render.Text(name, of).Text(head, -12)
	}
	num := func(name, head string, of func(*sockLife) int64) render.Field[sockLife] {
		return render.Num(name, of).Text(head, -12)
	}
	return []render.Field[sockLife]{
		render.Num("generation", func(s *sockLife) int64 { return int64(s.Gen) }).Text("generation", 0),
		render.Address("sock", func(s *sockLife) uint64 { return s.Addr }).Text("socket", -12),
		num("netns", "netns", func(s *sockLife) int64 { return s.Netns }),
		render.NonZero("cookie", func(s *sockLife) int64 { return s.Cookie }).Text("cookie", -12),
		render.TextOr("protocol", func(s *sockLife) string { return s.Protocol }).Text("protocol", -12),
		text("local", "local", func(s *sockLife) string { return render.Endpoint(s.Laddr, s.Lport) }),
		text("remote", "remote", func(s *sockLife) string { return render.Endpoint(s.Raddr, s.Rport) }),
		text("owner", "owner", sockOwner),
		text("began", "began", f.began),
		text("ended", "ended", func(s *sockLife) string { words, _ := f.end(s); return words }),
		num("life_ms", "life ms", func(s *sockLife) int64 { _, until := f.end(s); return (until - s.First) / 1000 }).As(render.Fixed).Digits(3).In("ms"),
		render.TextOr("state", func(s *sockLife) string { return s.State }).Text("last state", -12),
		num("tx_bytes", "sent", func(s *sockLife) int64 { return s.Tx }).In("bytes"),
		num("rx_bytes", "received", func(s *sockLife) int64 { return s.Rx }).In("bytes"),
		num("retransmits", "retransmits", func(s *sockLife) int64 { return s.Retrans }).In("segments"),
		num("drops", "drops", func(s *sockLife) int64 { return s.Drops }),
		num("rows", "rows", func(s *sockLife) int64 { return s.Rows }),
		render.Num("first_ns", func(s *sockLife) int64 { return s.First }).In("ns"),
		render.Num("last_ns", func(s *sockLife) int64 { return s.Last }).In("ns"),
	}
}

func sockOwner(s *sockLife) string {
	if s.Pid == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s (pid %d)", s.Comm, s.Pid)
}

// began says when a life began, as far as that is known.
func (f *sock) began(s *sockLife) string {
	switch {
	case s.Born:
		return f.at(s.First)
	case s.Older:
		return "before the recording"
	}
	return "before its first row"
}

// end says when a life ended, and until when it is known to have lasted.
func (f *sock) end(s *sockLife) (words string, until int64) {
	switch {
	case s.Closed != 0:
		return f.at(s.Closed), s.Closed
	case s.Open:
		return "open at the end of the recording", f.in.End()
	}
	return "its end was not seen", s.Last
}

// at is a time as seconds after the start of the recording, in whole microseconds as the
// time line has it.
func (f *sock) at(ts int64) string {
	us := (ts - f.in.Start()) / 1e3
	return fmt.Sprintf("%d.%06d s", us/1e6, us%1e6)
}

// Finish shows the lives, then the time line.
func (f *sock) Finish(a *render.Answer) {
	f.line.flush()
	f.lives.Show()
	f.waits.Finish(a)
	f.again.Note(a)
	if f.in.Flag("raw") {
		return
	}
	f.line.t.Show()
	if n := f.line.t.Dropped; n > 0 {
		a.Note(fmt.Sprintf("timeline truncated: %s more lines; --limit shows more", engine.Thousands(n)))
	}
}
