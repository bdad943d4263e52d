package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "soconnect",
	Group:    groupWho,
	Question: "which process connects where over IP, how long did it take, and did it succeed?",
	Help: `One line per connect(2) of an IP socket. LAT(us) is the duration of the call and RESULT
what it returned; a non-blocking call returns "In progress" at once. DONE(us) is the time
from the call to the end of the handshake, and FINAL how it ended; both come from the
socket's state changes. PROTO tells UDP connects, which send nothing, from TCP connects.
FAM is 2 for IPv4 and 10 for IPv6.

The address is the one given when the call began. --compat prints the columns of the
original, which leaves RESULT blank for errors it does not know. Connects by io_uring do
not block either and are in progress at first. LAT(us) is empty if the start of the call
was not recorded.`,
	Example: "soconnect --port 443",
	Options: []engine.Option{engine.Compat("columns of the original; unknown errors are blank")},
	New:     newSoconnect,
})

type soconnect struct {
	t       *render.List[connectLine]
	compat  bool
	tries   *calls.Attempts
	lines   line.InOrder[connectLine]
	waiting agg.PerSocket[int64] // id of the line, plus one
	names   agg.Intern
	finals  line.Outcomes

	calls, later, unknown int64

	Pid, DestPort, Ret, DurNs        scan.Int
	Comm, Family, Protocol, DestAddr scan.Str
}

func newSoconnect(in *engine.Input) engine.Fold {
	f := &soconnect{compat: in.Flag("compat"), finals: line.Outcomes{}}
	in.Bind(f)
	in.Sockets("")
	f.lines.Write = f.line
	f.tries = calls.NewAttempts(in, f.done)
	in.OnEnd(f.tries.Over)
	in.On("sys_connect", f.connect)
	f.t = render.ListOf(in.Table, render.Spec{Name: "connects"}, f.fields()...)
	return f
}

func (f *soconnect) fields() []render.Field[connectLine] {
	return append([]render.Field[connectLine]{
		render.Num("pid", func(l *connectLine) int64 { return l.who.Pid }).Text("PID", -6),
		render.Text("process", func(l *connectLine) string { return l.who.Comm }).Text("PROCESS", -16),
		render.Num("family", func(l *connectLine) int64 { return calls.FamilyNumber(l.family) }).Text("FAM", -3),
		render.Text("address", func(l *connectLine) string { return l.addr }).Text("ADDRESS", -16),
		render.Num("port", func(l *connectLine) int64 { return l.port }).Text("PORT", -5),
		render.NumOr("lat_us", func(l *connectLine) (int64, bool) { return l.dur / 1000, l.dur > 0 }).Text("LAT(us)", 8).In("us"),
		render.Text("result", func(l *connectLine) string { return l.label }).Text("RESULT", -24),
		render.TextOr("proto", func(l *connectLine) string { return l.proto }).TextIf(!f.compat, "PROTO", -5),
		render.NumOr("done_us", func(l *connectLine) (int64, bool) { return l.done / 1000, l.done >= 0 }).TextIf(!f.compat, "DONE(us)", 9).In("us"),
		render.TextOr("final", func(l *connectLine) string { return l.final }).TextIf(!f.compat, "FINAL", 0).Fails(render.FailedWord),
		render.Num("ret", func(l *connectLine) int64 { return l.ret }).Fails(render.FailedCall),
		render.Num("ts_ns", func(l *connectLine) int64 { return l.ts }).In("ns"),
	}, render.Within(func(l *connectLine) *agg.Socket { return &l.sock }, line.IdentityFields...)...)
}

func (f *soconnect) connect(r *engine.Row) {
	family := r.Str(f.Family)
	if family != "inet" && family != "inet6" {
		return
	}
	l := connectLine{shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, f.names.Get(family), f.names.Get(calls.ConnectProto(r, f.Protocol)), f.names.Get(r.Str(f.DestAddr)),
		r.Int(f.DestPort), r.TS, r.Int(f.DurNs), r.Int(f.Ret), -1, "", "", agg.Socket{}}
	f.calls++
	if r.Sock == nil || r.Sock.Protocol != "tcp" {
		f.lines.Add(l, true)
		return
	}
	l.sock = *r.Sock
	a := f.tries.Socks.Of(r.Sock)
	ended := a.Ended != 0 && a.Ended >= l.ts-l.dur
	switch {
	case l.ret < 0 && !slices.Contains(calls.Unfinished, -l.ret): // what the call says wins
		if l.done, l.final = l.dur, render.Errno(l.ret); ended {
			l.done = a.Ended - l.began(a)
		}
	case ended:
		l.done, l.final = a.Ended-l.began(a), a.Result
	case l.ret == -calls.EINPROGRESS && a.Ended == 0:
		a.At = r.TS
		id := f.lines.Add(l, false)
		*f.waiting.Of(r.Sock) = id + 1
		return
	}
	f.lines.Add(l, true)
}

// done completes the line that waits for the socket.
func (f *soconnect) done(s *agg.Socket, a calls.Attempt) {
	id := f.waiting.Of(s)
	if *id == 0 {
		return
	}
	f.lines.Complete(*id-1, func(l *connectLine) {
		l.sock, l.final = *s, a.Result
		if a.Ended != 0 {
			l.done = a.Ended - l.began(&a)
			f.later++
		}
	})
	*id = 0
}

func (f *soconnect) line(l *connectLine) {
	label, known := connectLabels[-l.ret]
	if !known {
		if f.unknown++; !f.compat {
			label = fmt.Sprintf("errno %d %s", -l.ret, render.ErrnoName(-l.ret))
		}
	}
	if l.final != "" {
		f.finals[l.final]++
	}
	l.label = label
	f.t.Add(l)
}

// Finish writes what still waits and sums up.
func (f *soconnect) Finish(a *render.Answer) {
	if f.lines.Rest(); f.calls == 0 {
		return
	}
	if len(f.finals) > 0 {
		a.Note("results of TCP connects: " + f.finals.String())
	}
	if f.later > 0 {
		a.Note(fmt.Sprintf("%s ended after the call returned: see DONE(us), not LAT(us)", engine.Plural(f.later, "connect", "connects")))
	}
	if f.unknown > 0 {
		a.Note(fmt.Sprintf("%s returned an error that the original (--compat) leaves blank", engine.Plural(f.unknown, "call", "calls")))
	}
}

// connectLabels are the results of connect(2) as soconnect names them, by errno.
var connectLabels = map[int64]string{0: "Success", 1: "Permission denied", 4: "Interrupted", 9: "Invalid sockfd", 11: "Routing cache insuff.",
	13: "Perm. denied (EACCES)", 14: "Sock struct addr invalid", 88: "FD not a socket", 91: "Socket protocol error", 97: "Address family invalid",
	98: "Local addr in use", 99: "No port available", 101: "Network unreachable", 106: "Already connected", 110: "Timeout", 111: "Connect refused",
	114: "Not yet completed", 115: "In progress"}

// connectLine is one call.
type connectLine struct {
	who                 shape.Process
	family, proto, addr string
	port, ts, dur, ret  int64
	done                int64 // ns from the start of the call, -1 if unknown
	final               string
	label               string // of ret
	sock                agg.Socket
}

// began is when the call did; the SYN stands for it where that was not seen.
func (l *connectLine) began(a *calls.Attempt) int64 {
	if l.dur == 0 && a.Began != 0 {
		return a.Began
	}
	return l.ts - l.dur
}
