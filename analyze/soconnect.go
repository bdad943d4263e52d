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
	t       *render.Table
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
	cols := []render.Column{render.Col("pid", render.Int).Text("PID", -6), render.Col("process", render.String).Text("PROCESS", -16), render.Col("family", render.Int).Text("FAM", -3),
		render.Col("address", render.String).Text("ADDRESS", -16), render.Col("port", render.Int).Text("PORT", -5), render.Col("lat_us", render.Int).Text("LAT(us)", 8).In("us"),
		render.Col("result", render.String).Text("RESULT", -24)}
	more := []render.Column{render.Col("proto", render.String), render.Col("done_us", render.Int).In("us"), render.Col("final", render.String).Fails(render.FailedWord)}
	if !f.compat {
		more[0], more[1], more[2] = more[0].Text("PROTO", -5), more[1].Text("DONE(us)", 9), more[2].Text("FINAL", 0)
	}
	f.t = in.Table(render.Spec{Name: "connects", Columns: slices.Concat(cols, more, []render.Column{render.Col("ret", render.Int).Fails(render.FailedCall), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())})
	return f
}

func (f *soconnect) connect(r *engine.Row) {
	family := r.Str(f.Family)
	if family != "inet" && family != "inet6" {
		return
	}
	l := connectLine{shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, f.names.Get(family), f.names.Get(calls.ConnectProto(r, f.Protocol)), f.names.Get(r.Str(f.DestAddr)),
		r.Int(f.DestPort), r.TS, r.Int(f.DurNs), r.Int(f.Ret), -1, "", agg.Socket{}}
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
	f.t.Int(l.who.Pid).Str(l.who.Comm).Int(calls.FamilyNumber(l.family)).Str(l.addr).Int(l.port).IntOr(l.dur/1000, l.dur > 0).Str(label).StrOr(l.proto).
		IntOr(l.done/1000, l.done >= 0).StrOr(l.final).Int(l.ret).Int(l.ts)
	line.PutIdentity(f.t, &l.sock).End()
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
	sock                agg.Socket
}

// began is when the call did; the SYN stands for it where that was not seen.
func (l *connectLine) began(a *calls.Attempt) int64 {
	if l.dur == 0 && a.Began != 0 {
		return a.Began
	}
	return l.ts - l.dur
}
