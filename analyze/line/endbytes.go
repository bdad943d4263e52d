package line

import (
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// Traffic is what a session moved.
type Traffic struct {
	Tx, Rx int64
	Known  bool
}

// flagFIN is the bit of FIN in the flag byte of a TCP header.
const flagFIN = 1

// EndBytes is what a session moved, from TCP's counters at its end.
type EndBytes struct{ acked, received, flags, last, err scan.Col }

// NewEndBytes makes the scan read those counters.
func NewEndBytes(in *engine.Input) *EndBytes {
	return &EndBytes{in.Int("bytes_acked"), in.Int("bytes_received"), in.Int("tcp_flags"), in.Str("old_state"), in.Int("sk_err")}
}

// Counted is as the kernel counts: the SYN of the end that connects is a byte, and so is a FIN.
func (b *EndBytes) Counted(r *engine.Row) Traffic {
	return Traffic{r.Int(b.acked), r.Int(b.received), r.Has(b.acked)}
}

// Data is without those. Where it is not known who connected, it is what is certain.
func (b *EndBytes) Data(r *engine.Row) Traffic {
	t, last := b.Counted(r), r.Str(b.last)
	if !r.Sock.Passive {
		t.Tx--
	}
	if last == "FIN_WAIT2" || (last == "CLOSING" || last == "LAST_ACK") && r.Int(b.err) == 0 {
		t.Tx--
	}
	if r.Int(b.flags)&flagFIN != 0 || last == "CLOSE_WAIT" || last == "CLOSING" || last == "LAST_ACK" {
		t.Rx--
	}
	t.Tx, t.Rx = max(t.Tx, 0), max(t.Rx, 0)
	return t
}
