package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
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
func (u *unacked) of(s *agg.Socket, acked int64) line.Traffic {
	if u == nil || u.gaps.Of(s, s.First, s.Last) {
		return line.Traffic{}
	}
	return line.Traffic{Tx: max(0, *u.sent.Of(s)-acked), Known: true}
}
