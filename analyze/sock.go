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

type sock struct {
	in    *engine.Input
	lives *render.Table
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
	f.lives = in.Table(render.Spec{Name: "lives", Look: render.Record, Columns: []render.Column{
		render.Col("generation", render.Int).Text("generation", 0), render.Col("sock", render.Addr).Text("socket", -12), render.Col("netns", render.Int).Text("netns", -12),
		render.Col("cookie", render.Int).Text("cookie", -12), render.Col("protocol", render.String).Text("protocol", -12),
		render.Col("local", render.String).Text("local", -12), render.Col("remote", render.String).Text("remote", -12), render.Col("owner", render.String).Text("owner", -12),
		render.Col("began", render.String).Text("began", -12), render.Col("ended", render.String).Text("ended", -12),
		render.Col("life_ms", render.Fixed).Digits(3).Text("life ms", -12).In("ms"), render.Col("state", render.String).Text("last state", -12),
		render.Col("tx_bytes", render.Int).Text("sent", -12).In("bytes"), render.Col("rx_bytes", render.Int).Text("received", -12).In("bytes"),
		render.Col("retransmits", render.Int).Text("retransmits", -12).In("segments"), render.Col("drops", render.Int).Text("drops", -12),
		render.Col("rows", render.Int).Text("rows", -12), render.Col("first_ns", render.Int).In("ns"), render.Col("last_ns", render.Int).In("ns")}}).Hold(1 << 16)
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
	f.lives.Int(int64(s.Gen)).Uint(s.Addr).Int(s.Netns).IntOr(s.Cookie, s.Cookie != 0).StrOr(s.Protocol)
	f.lives.Str(render.Endpoint(s.Laddr, s.Lport)).Str(render.Endpoint(s.Raddr, s.Rport))
	who, began, ended, until := "unknown", "before its first row", "its end was not seen", s.Last
	if s.Pid != 0 {
		who = fmt.Sprintf("%s (pid %d)", s.Comm, s.Pid)
	}
	switch {
	case s.Born:
		began = f.at(s.First)
	case s.Older:
		began = "before the recording"
	}
	switch {
	case s.Closed != 0:
		ended, until = f.at(s.Closed), s.Closed
	case s.Open:
		ended, until = "open at the end of the recording", f.in.End()
	}
	f.lives.Str(who).Str(began).Str(ended).Int((until - s.First) / 1000).StrOr(s.State)
	f.lives.Int(u.Tx).Int(u.Rx).Int(u.Retrans).Int(u.Drops).Int(u.Rows).Int(s.First).Int(s.Last).End()
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
