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
)

var _ = register(engine.Analysis{
	Name:     "soaccept",
	Group:    groupWho,
	Question: "who accepts IP connections, from which address and port, with what result?",
	Help: `One line per accept(2) of an IP socket. ADDRESS and PORT are the remote end, taken from
the accepted socket. LPORT is the port of the listener, NEWFD the new descriptor.
WAIT(us) is how long the connection waited in the accept queue, from the end of its
handshake to the return of the call. A failed call has the family of its listener.

The original reads the address from the caller's buffer. It leaves out calls without a
buffer, and for a failed call it prints the old content of the buffer, which no recording
has. --compat leaves out the same calls and prints the original's columns.
The new descriptor of an accept by io_uring is not recorded.`,
	Example: "soaccept --port 80",
	Options: []engine.Option{engine.Compat("only calls with a buffer for the address, columns of the original")},
	New:     newSoaccept,
})

type soaccept struct {
	t           *render.List[acceptLine]
	compat      bool
	established agg.PerSocket[int64]

	calls, unbuffered, failed int64

	Pid, PeerPort, Rport, Lport, Ret, PeerBuf, Listener scan.Int
	Comm, Family, PeerAddr, Raddr, NewState             scan.Str
}

func newSoaccept(in *engine.Input) engine.Fold {
	f := &soaccept{compat: in.Flag("compat")}
	in.Bind(f)
	in.Sockets("")
	in.Use("tcp_state", "the time in the accept queue is not known", func(r *engine.Row) {
		if r.Str(f.NewState) == "ESTABLISHED" {
			*f.established.Of(r.Sock) = r.TS
		}
	})
	in.On("sys_accept", f.accept)
	f.t = render.ListOf(in.Table, render.Spec{Name: "accepts"}, acceptFields(!f.compat)...)
	return f
}

func (f *soaccept) accept(r *engine.Row) {
	family, ret := r.Str(f.Family), r.Int(f.Ret)
	if family != "inet" && family != "inet6" {
		return
	}
	f.calls++
	buffered := r.Int(f.PeerBuf) != 0
	if !buffered {
		if f.unbuffered++; f.compat {
			return
		}
	}
	addr, port := r.Str(f.Raddr), r.Int(f.Rport)
	if f.compat {
		addr, port = r.Str(f.PeerAddr), r.Int(f.PeerPort)
	}
	if ret < 0 {
		f.failed++
		addr, port = "", 0 // the listener's row has no remote end
	}
	label, known := acceptLabels[max(-ret, 0)]
	if !known && !f.compat {
		label = fmt.Sprintf("errno %d %s", -ret, render.ErrnoName(-ret))
	}
	l := acceptLine{Row: r, f: f, family: calls.FamilyNumber(family), addr: addr, port: port, label: label, wait: -1}
	if r.Sock != nil && ret >= 0 {
		if l.sock = *r.Sock; *f.established.Of(r.Sock) != 0 {
			l.wait = r.TS - *f.established.Of(r.Sock)
		}
	}
	f.t.Line(l)
}

// acceptLine is an accept as a line shows it.
type acceptLine struct {
	*engine.Row
	f           *soaccept
	addr, label string
	family      int64
	port        int64 // 0 if there is none
	wait        int64 // ns in the accept queue, negative if not known
	sock        agg.Socket
}

// acceptFields are the columns; text shows more than the original's if asked to.
func acceptFields(more bool) []render.Field[acceptLine] {
	return slices.Concat([]render.Field[acceptLine]{
		render.Num("pid", func(l *acceptLine) int64 { return l.Int(l.f.Pid) }).Text("PID", -6),
		render.Text("process", func(l *acceptLine) string { return l.Str(l.f.Comm) }).Text("PROCESS", -16),
		render.Num("family", func(l *acceptLine) int64 { return l.family }).Text("FAM", -3),
		render.TextOr("address", func(l *acceptLine) string { return l.addr }).Text("ADDRESS", -16),
		render.NonZero("port", func(l *acceptLine) int64 { return l.port }).Text("PORT", -5),
		render.Text("result", func(l *acceptLine) string { return l.label }).Text("RESULT", -24),
		render.NumOr("lport", func(l *acceptLine) (int64, bool) { return l.Int(l.f.Lport), l.Has(l.f.Lport) }).TextIf(more, "LPORT", -5),
		render.NumOr("new_fd", func(l *acceptLine) (int64, bool) { fd := l.Int(l.f.Ret); return fd, fd >= 0 && l.Has(l.f.Ret) }).TextIf(more, "NEWFD", 5),
		render.NumOr("wait_us", func(l *acceptLine) (int64, bool) { return l.wait / 1000, l.wait >= 0 }).TextIf(more, "WAIT(us)", 9).In("us"),
		render.NumOr("ret", func(l *acceptLine) (int64, bool) { return l.Int(l.f.Ret), l.Has(l.f.Ret) }).Fails(render.FailedCall),
		render.Address("listener", func(l *acceptLine) uint64 { return l.Uint(l.f.Listener) }),
		render.Num("ts_ns", func(l *acceptLine) int64 { return l.TS }).In("ns"),
	}, render.Within(func(l *acceptLine) *agg.Socket { return &l.sock }, line.IdentityFields...))
}

// Finish tells the rules apart.
func (f *soaccept) Finish(a *render.Answer) {
	switch {
	case f.unbuffered > 0 && f.compat:
		a.Note(fmt.Sprintf("--compat: left out %s of %s, because the caller gave no buffer for the address", engine.Thousands(f.unbuffered), engine.Plural(f.calls, "call", "calls")))
	case f.unbuffered > 0:
		a.Note(fmt.Sprintf("%s of %s gave no buffer for the address; the original leaves them out (--compat)", engine.Thousands(f.unbuffered), engine.Plural(f.calls, "call", "calls")))
	}
	if f.failed > 0 {
		a.Note(fmt.Sprintf("%s failed; for these the original prints the old content of the buffer", engine.Plural(f.failed, "call", "calls")))
	}
}

// acceptLabels are the results of accept(2) as soaccept names them.
var acceptLabels = map[int64]string{0: "Success", 1: "Permission denied", 4: "Interrupted", 9: "Invalid sockfd", 11: "None to accept", 12: "Out of memory",
	14: "Sock struct addr invalid", 22: "Args invalid", 23: "System FD limit", 24: "Process FD limit", 71: "Protocol error", 88: "FD not a socket",
	95: "Not SOCK_STREAM", 103: "Aborted", 105: "Memory (ENOBUFS)"}
