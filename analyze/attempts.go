package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// attempt is one try to connect.
type attempt struct {
	began, ended int64 // SYN sent, and outcome; 0 if not seen
	at           int64 // when the kernel's function returned; 0 before
	who          process
	uid          int64  // noUser if unknown
	query        string // the name looked up before
	result       string // connected, the name of an error, closed, pending
}

// attempts follows connects from the kernel's function to the end of the handshake.
type attempts struct {
	in    *engine.Input
	socks agg.PerSocket[attempt]
	syn   func(*engine.Row)          // called when a SYN is sent, where the functions were not recorded
	done  func(*agg.Socket, attempt) // called once for each, when its outcome is known

	ret, oldState, newState, sockErr scan.Col
}

func newAttempts(in *engine.Input, done func(*agg.Socket, attempt)) *attempts {
	f := &attempts{in: in, done: done, ret: in.Int("ret"), oldState: in.Str("old_state"), newState: in.Str("new_state"), sockErr: in.Int("sk_err")}
	in.Use("tcp_state", "the outcome of connections is not known", f.state)
	return f
}

// listen calls begin for each attempt that the kernel's functions begin, or where they
// were not recorded, for each SYN.
func (f *attempts) listen(begin func(*engine.Row)) {
	if firstOf(f.in, "tcp_connect_fn", "tcp_state") == "tcp_state" {
		f.syn = begin
		f.in.Use("tcp_connect_fn", "attempts that fail before a SYN is sent are not seen", nil)
		f.in.On("tcp_state", nil)
		return
	}
	f.in.On("tcp_connect_fn", begin)
}

// state follows the handshake. Within this host it may be over before connect returns.
func (f *attempts) state(r *engine.Row) {
	if !isTCP(r.Sock) {
		return
	}
	a := f.socks.Of(r.Sock)
	from, to := r.Str(f.oldState), r.Str(f.newState)
	if to == "SYN_SENT" {
		if *a = (attempt{began: r.TS}); f.syn != nil {
			f.syn(r)
		}
	}
	if a.ended != 0 || from != "SYN_SENT" && from != "SYN_RECV" {
		return
	}
	switch to {
	case "ESTABLISHED":
		a.ended, a.result = r.TS, connected
	case "CLOSE":
		if a.ended, a.result = r.TS, "closed"; r.Int(f.sockErr) != 0 {
			a.result = result(-r.Int(f.sockErr))
		}
	default:
		return
	}
	if a.at != 0 {
		f.end(r.Sock, a)
	}
}

// begin takes the return of the kernel's connect function: the SYN is on its way. Who made it
// and the name looked up before are those of by.
func (f *attempts) begin(r *engine.Row, by attempt) {
	a := f.socks.Of(r.Sock)
	a.at, a.who, a.uid, a.query = r.TS, by.who, by.uid, by.query
	if ret := r.Int(f.ret); ret != 0 {
		a.ended, a.result = r.TS, result(ret)
	} else if !f.in.Recorded("tcp_state") {
		a.ended, a.result = r.TS, "begun"
	}
	if a.ended != 0 {
		f.end(r.Sock, a)
	}
}

func (f *attempts) end(s *agg.Socket, a *attempt) {
	f.done(s, *a)
	a.at = 0
}

// over takes the attempt of a socket whose rows end before its outcome.
func (f *attempts) over(s *agg.Socket) {
	if a := f.socks.Of(s); a.at != 0 {
		a.result = "pending"
		f.end(s, a)
	}
}

// outcomes counts results.
type outcomes map[string]int64

// String lists them, most frequent first.
func (o outcomes) String() string {
	names := slices.Collect(maps.Keys(o))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(o[b], o[a]), cmp.Compare(a, b)) })
	for i, n := range names {
		names[i] = engine.Group(o[n]) + " " + n
	}
	return strings.Join(names, ", ")
}

// perSecond is n divided by the length of the recording or its selected part.
func perSecond(in *engine.Input, n int64) string {
	ns := in.End() - in.Start()
	if ns <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)*1e9/float64(ns))
}

// connectFlow is the key of BCC's count of connects.
type connectFlow struct {
	laddr, raddr string
	rport        int64
}

// showFlows lists the flows with most connects, as BCC does.
func showFlows(in *engine.Input, flows *agg.Top[connectFlow]) {
	t := in.Table(render.Spec{Name: "counts", Columns: []render.Column{render.Col("laddr", render.String).Text("LADDR", -25),
		render.Col("raddr", render.String).Text("RADDR", -25), render.Col("rport", render.Int).Text("RPORT", -20), render.Col("connects", render.Int).Text("CONNECTS", -10)}})
	for _, e := range flows.Best(1<<16, func(a, b connectFlow) int {
		return cmp.Or(cmp.Compare(a.laddr, b.laddr), cmp.Compare(a.raddr, b.raddr), cmp.Compare(a.rport, b.rport))
	}) {
		t.StrOr(e.Key.laddr).StrOr(e.Key.raddr).Int(e.Key.rport).Int(e.Count).End()
	}
}
