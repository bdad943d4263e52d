package analyze

import (
	"math"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// attempt is one try to connect.
type attempt struct {
	began, ended int64 // SYN sent, and outcome; 0 if not seen
	at           int64 // when the kernel's function returned; 0 before
	who          shape.Process
	uid          int64  // noUser if unknown
	query        string // the name looked up before
	result       string // connected, the name of an error, closed, pending
	raddr        string // where it was to go
	rport        int64  // 0 if that is not known
	waits        bool   // the call has not returned that knows more
	told         bool   // its outcome was handed on
}

// closedEarly is the result of an attempt that ended before an answer came, without an error.
const closedEarly = "closed"

// unknownResult is the result of an attempt whose outcome may be among lost rows.
const unknownResult = "?"

// attempts follows connects from the kernel's function to the end of the handshake.
type attempts struct {
	in    *engine.Input
	socks agg.PerSocket[attempt]
	syn   func(*engine.Row)          // called when a SYN is sent, where the functions were not recorded
	done  func(*agg.Socket, attempt) // called once for each, when its outcome is known
	names agg.Intern

	calls bool // returns of connect(2) were recorded
	gaps  *agg.Gaps

	ret, oldState, newState, sockErr, dur scan.Col
	raddr, rport, dest, destPort          scan.Col
}

func newAttempts(in *engine.Input, done func(*agg.Socket, attempt)) *attempts {
	f := &attempts{in: in, done: done, gaps: in.Gaps("tcp_state"), calls: in.Recorded("sys_connect"), ret: in.Int("ret"), oldState: in.Str("old_state"), newState: in.Str("new_state"),
		sockErr: in.Int("sk_err"), dur: in.Int("dur_ns"), raddr: in.Str("raddr"), rport: in.Int("rport"), dest: in.Str("dest_addr"), destPort: in.Int("dest_port")}
	in.Use("tcp_state", "the outcome of connections is not known", f.state)
	return f
}

// listen calls begin for each attempt that the kernel's functions begin, or where they
// were not recorded, for each SYN.
func (f *attempts) listen(begin func(*engine.Row)) {
	f.in.Use("sys_connect", "errors that only the call returns are not known", f.returned)
	f.in.Use("sys_close", engine.WithoutIdentity, f.closed)
	if f.in.FirstOf("tcp_connect_fn", "tcp_state") == "tcp_state" {
		f.syn = begin
		f.in.Use("tcp_connect_fn", "attempts that fail before a SYN is sent are not seen", nil)
		f.in.On("tcp_state", nil)
		return
	}
	f.in.On("tcp_connect_fn", begin)
}

// state follows the handshake. Within this host it may be over before connect returns.
func (f *attempts) state(r *engine.Row) {
	if !r.Sock.TCP() {
		return
	}
	a := f.socks.Of(r.Sock)
	from, to := r.Str(f.oldState), r.Str(f.newState)
	if to == "SYN_SENT" {
		f.settle(r.Sock, a)
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
		if a.ended, a.result = r.TS, closedEarly; r.Int(f.sockErr) != 0 {
			a.result = render.Errno(-r.Int(f.sockErr))
		} else {
			a.waits = f.calls && f.syn != nil // the call may know better: no port was free
		}
	default:
		return
	}
	if a.at != 0 && !a.waits {
		f.end(r.Sock, a)
	}
}

// begin takes the return of the kernel's connect function: the SYN is on its way. Who made it
// and the name looked up before are those of by.
func (f *attempts) begin(r *engine.Row, by attempt) {
	a := f.socks.Of(r.Sock)
	ret := r.Int(f.ret)
	if a.told { // that was the one before; this one sent no SYN
		*a = attempt{}
	}
	a.at, a.who, a.uid, a.query = r.TS, by.who, by.uid, by.query
	if p := r.Int(f.rport); p != 0 {
		a.raddr, a.rport = f.names.Get(r.Str(f.raddr)), p
	}
	if ret != 0 {
		// The kernel has taken the ends back; the call says where it was to go.
		a.ended, a.result, a.waits = r.TS, render.Errno(ret), a.rport == 0 && f.calls
	} else if !f.in.Recorded("tcp_state") {
		a.ended, a.result = r.TS, "begun"
	}
	if a.ended != 0 && !a.waits {
		f.end(r.Sock, a)
	}
}

func (f *attempts) end(s *agg.Socket, a *attempt) {
	f.done(s, *a)
	a.at, a.told = 0, true
}

// over takes the attempt of a socket whose rows end before its outcome.
func (f *attempts) over(s *agg.Socket) {
	a := f.socks.Of(s)
	if f.settle(s, a); a.at != 0 {
		if a.result = "pending"; f.gaps.Between(a.at, math.MaxInt64) {
			a.result = unknownResult // it may be among lost rows
		}
		f.end(s, a)
	}
}
