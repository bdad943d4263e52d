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
	t           *render.Table
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
	cols := []render.Column{render.Col("pid", render.Int).Text("PID", -6), render.Col("process", render.String).Text("PROCESS", -16), render.Col("family", render.Int).Text("FAM", -3),
		render.Col("address", render.String).Text("ADDRESS", -16), render.Col("port", render.Int).Text("PORT", -5), render.Col("result", render.String).Text("RESULT", -24)}
	more := []render.Column{render.Col("lport", render.Int), render.Col("new_fd", render.Int), render.Col("wait_us", render.Int).In("us")}
	if !f.compat {
		more[0], more[1], more[2] = more[0].Text("LPORT", -5), more[1].Text("NEWFD", 5), more[2].Text("WAIT(us)", 9)
	}
	f.t = in.Table(render.Spec{Name: "accepts", Columns: slices.Concat(cols, more, []render.Column{render.Col("ret", render.Int).Fails(render.FailedCall), render.Col("listener", render.Addr), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())})
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
	f.t.Int(r.Int(f.Pid)).Str(r.Str(f.Comm)).Int(calls.FamilyNumber(family)).StrOr(addr).IntOr(port, port != 0).Str(label)
	f.t.IntOr(r.Int(f.Lport), r.Has(f.Lport)).IntOr(ret, ret >= 0 && r.Has(f.Ret))
	var s agg.Socket
	wait := int64(-1)
	if r.Sock != nil && ret >= 0 {
		if s = *r.Sock; *f.established.Of(r.Sock) != 0 {
			wait = r.TS - *f.established.Of(r.Sock)
		}
	}
	f.t.IntOr(wait/1000, wait >= 0).IntOr(ret, r.Has(f.Ret)).Uint(r.Uint(f.Listener)).Int(r.TS)
	line.PutIdentity(f.t, &s).End()
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
