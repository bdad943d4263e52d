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
type EndBytes struct {
	BytesAcked, BytesReceived, TcpFlags, SkErr scan.Int
	OldState                                   scan.Str
}

// NewEndBytes makes the scan read those counters.
func NewEndBytes(in *engine.Input) *EndBytes {
	f := &EndBytes{}
	in.Bind(f)
	return f
}

// Counted is as the kernel counts: the SYN of the end that connects is a byte, and so is a FIN.
func (b *EndBytes) Counted(r *engine.Row) Traffic {
	return Traffic{r.Int(b.BytesAcked), r.Int(b.BytesReceived), r.Has(b.BytesAcked)}
}

// Data is without those. Where it is not known who connected, it is what is certain.
func (b *EndBytes) Data(r *engine.Row) Traffic {
	t, last := b.Counted(r), r.Str(b.OldState)
	if !r.Sock.Passive {
		t.Tx--
	}
	if last == "FIN_WAIT2" || (last == "CLOSING" || last == "LAST_ACK") && r.Int(b.SkErr) == 0 {
		t.Tx--
	}
	if r.Int(b.TcpFlags)&flagFIN != 0 || last == "CLOSE_WAIT" || last == "CLOSING" || last == "LAST_ACK" {
		t.Rx--
	}
	t.Tx, t.Rx = max(t.Tx, 0), max(t.Rx, 0)
	return t
}
