package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// traffic is what a session moved.
type traffic struct {
	tx, rx int64
	known  bool
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
