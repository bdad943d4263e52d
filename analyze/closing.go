package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Errors that end connections.
const (
	epipe        = 32
	econnreset   = 104
	etimedout    = 110
	econnrefused = 111
)

// closeReason is how a session ended, from its last state and the error of its socket.
func closeReason(last string, err int64) string {
	switch {
	case err == econnrefused:
		return "refused"
	case err == etimedout:
		return "timeout"
	case err == econnreset || err == epipe:
		return "RST received"
	case err != 0:
		return render.Errno(-err)
	case last == "SYN_SENT" || last == "SYN_RECV":
		return "given up"
	case last == "ESTABLISHED" || last == "CLOSE_WAIT":
		return "RST sent" // without a FIN: data was unread, or the process asked for it
	}
	return "FIN"
}

// flagFIN is the bit of FIN in the flag byte of a TCP header.
const flagFIN = 1

// endBytes is what a session moved, from TCP's counters at its end.
type endBytes struct{ acked, received, flags, last, err scan.Col }

func newEndBytes(in *engine.Input) *endBytes {
	return &endBytes{in.Int("bytes_acked"), in.Int("bytes_received"), in.Int("tcp_flags"), in.Str("old_state"), in.Int("sk_err")}
}

// counted is as the kernel counts: the SYN of the end that connects is a byte, and so is a FIN.
func (b *endBytes) counted(r *engine.Row) traffic {
	return traffic{r.Int(b.acked), r.Int(b.received), r.Has(b.acked)}
}

// data is without those. Where it is not known who connected, it is what is certain.
func (b *endBytes) data(r *engine.Row) traffic {
	t, last := b.counted(r), r.Str(b.last)
	if !r.Sock.Passive {
		t.tx--
	}
	if last == "FIN_WAIT2" || (last == "CLOSING" || last == "LAST_ACK") && r.Int(b.err) == 0 {
		t.tx--
	}
	if r.Int(b.flags)&flagFIN != 0 || last == "CLOSE_WAIT" || last == "CLOSING" || last == "LAST_ACK" {
		t.rx--
	}
	t.tx, t.rx = max(t.tx, 0), max(t.rx, 0)
	return t
}

// unacked sums up what processes sent on TCP sockets, to tell what of it the other end
// never acknowledged.
type unacked struct {
	sent agg.PerSocket[int64]
	gaps *agg.Gaps
}

func newUnacked(in *engine.Input) *unacked {
	event := in.FirstOf("tcp_msg", "sock_io")
	u := &unacked{gaps: in.Gaps(event)}
	dir, ret := in.Str("dir"), in.Int("ret")
	in.Use(event, "what was not acknowledged is not known", func(r *engine.Row) {
		if r.Sock != nil && r.Str(dir) == "send" {
			*u.sent.Of(r.Sock) += max(0, r.Int(ret))
		}
	})
	return u
}

// of is what was not acknowledged of what was sent.
func (u *unacked) of(s *agg.Socket, acked int64) traffic {
	if u == nil || u.gaps.Of(s, s.First, s.Last) {
		return traffic{}
	}
	return traffic{tx: max(0, *u.sent.Of(s)-acked), known: true}
}
