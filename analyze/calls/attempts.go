package calls

import (
	"math"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// Attempt is one try to connect.
type Attempt struct {
	Began, Ended int64 // SYN sent, and outcome; 0 if not seen
	At           int64 // when the kernel's function returned; 0 before
	Who          shape.Process
	Uid          int64  // noUser if unknown
	Query        string // the name looked up before
	Result       string // connected, the name of an error, closed, pending
	Raddr        string // where it was to go
	Rport        int64  // 0 if that is not known
	waits        bool   // the call has not returned that knows more
	told         bool   // its outcome was handed on
}

// closedEarly is the result of an attempt that ended before an answer came, without an error.
const closedEarly = "closed"

// unknownResult is the result of an attempt whose outcome may be among lost rows.
const unknownResult = "?"

// Attempts follows connects from the kernel's function to the end of the handshake.
type Attempts struct {
	in    *engine.Input
	Socks agg.PerSocket[Attempt]
	syn   func(*engine.Row)          // called when a SYN is sent, where the functions were not recorded
	done  func(*agg.Socket, Attempt) // called once for each, when its outcome is known
	names agg.Intern

	calls bool // returns of connect(2) were recorded
	gaps  *agg.Gaps

	Ret, SkErr, DurNs, Rport, DestPort  scan.Int
	OldState, NewState, Raddr, DestAddr scan.Str
}

// NewAttempts calls done once for each attempt, when its outcome is known.
func NewAttempts(in *engine.Input, done func(*agg.Socket, Attempt)) *Attempts {
	f := &Attempts{in: in, done: done, gaps: in.Gaps("tcp_state"), calls: in.Recorded("sys_connect")}
	in.Bind(f)
	in.Use("tcp_state", "the outcome of connections is not known", f.state)
	return f
}

// Listen calls begin for each attempt that the kernel's functions begin, or where they
// were not recorded, for each SYN.
func (f *Attempts) Listen(begin func(*engine.Row)) {
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
func (f *Attempts) state(r *engine.Row) {
	if !r.Sock.TCP() {
		return
	}
	a := f.Socks.Of(r.Sock)
	from, to := r.Str(f.OldState), r.Str(f.NewState)
	if to == "SYN_SENT" {
		f.settle(r.Sock, a)
		if *a = (Attempt{Began: r.TS}); f.syn != nil {
			f.syn(r)
		}
	}
	if a.Ended != 0 || from != "SYN_SENT" && from != "SYN_RECV" {
		return
	}
	switch to {
	case "ESTABLISHED":
		a.Ended, a.Result = r.TS, Connected
	case "CLOSE":
		if a.Ended, a.Result = r.TS, closedEarly; r.Int(f.SkErr) != 0 {
			a.Result = render.Errno(-r.Int(f.SkErr))
		} else {
			a.waits = f.calls && f.syn != nil // the call may know better: no port was free
		}
	default:
		return
	}
	if a.At != 0 && !a.waits {
		f.end(r.Sock, a)
	}
}

// Begin takes the return of the kernel's connect function: the SYN is on its way. Who made it
// and the name looked up before are those of by.
func (f *Attempts) Begin(r *engine.Row, by Attempt) {
	a := f.Socks.Of(r.Sock)
	ret := r.Int(f.Ret)
	if a.told { // that was the one before; this one sent no SYN
		*a = Attempt{}
	}
	a.At, a.Who, a.Uid, a.Query = r.TS, by.Who, by.Uid, by.Query
	if p := r.Int(f.Rport); p != 0 {
		a.Raddr, a.Rport = f.names.Get(r.Str(f.Raddr)), p
	}
	if ret != 0 {
		// The kernel has taken the ends back; the call says where it was to go.
		a.Ended, a.Result, a.waits = r.TS, render.Errno(ret), a.Rport == 0 && f.calls
	} else if !f.in.Recorded("tcp_state") {
		a.Ended, a.Result = r.TS, "begun"
	}
	if a.Ended != 0 && !a.waits {
		f.end(r.Sock, a)
	}
}

func (f *Attempts) end(s *agg.Socket, a *Attempt) {
	f.done(s, *a)
	a.At, a.told = 0, true
}

// Over takes the attempt of a socket whose rows end before its outcome.
func (f *Attempts) Over(s *agg.Socket) {
	a := f.Socks.Of(s)
	if f.settle(s, a); a.At != 0 {
		if a.Result = "pending"; f.gaps.Between(a.At, math.MaxInt64) {
			a.Result = unknownResult // it may be among lost rows
		}
		f.end(s, a)
	}
}

// Connected is the result of a connect that succeeded.
const Connected = "connected"
