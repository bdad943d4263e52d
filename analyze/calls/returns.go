package calls

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Unfinished are the errors after which a connect goes on, or was over before. One that a signal
// interrupts goes on, too, and may say so before the kernel has made EINTR of it.
var Unfinished = []int64{eintr, eRestart, EISCONN, EALREADY, EINPROGRESS}

// returned takes the return of connect(2): its own result wins over the change of state.
func (f *Attempts) returned(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	a := f.Socks.Of(r.Sock)
	if !a.waits || r.TS-r.Int(f.DurNs) > a.Ended {
		return
	}
	if ret := r.Int(f.Ret); ret < 0 && a.Result == closedEarly && !slices.Contains(Unfinished, -ret) {
		a.Result = render.Errno(ret)
	}
	if a.Rport == 0 {
		a.Raddr, a.Rport = f.names.Get(r.Str(f.DestAddr)), r.Int(f.DestPort)
	}
	f.settle(r.Sock, a)
}

// closed takes the end of a socket whose process did not wait for an outcome.
func (f *Attempts) closed(r *engine.Row) {
	if r.Sock != nil {
		f.settle(r.Sock, f.Socks.Of(r.Sock))
	}
}

// settle lets an attempt that waits for a call have the outcome that is known.
func (f *Attempts) settle(s *agg.Socket, a *Attempt) {
	if a.waits {
		if a.waits = false; a.At != 0 {
			f.end(s, a)
		}
	}
}
