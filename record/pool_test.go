package record

import (
	"testing"

	"netrec/schema"
)

// Piles share their memory: one that is being encoded gives it to the one that is filled.
func TestPool(t *testing.T) {
	shared, io, rcv := &pool{}, schema.ByName("sock_io"), schema.ByName("tcp_rcv_est")
	defer shared.release()
	encoded, waits, filled := newPile(1, shared), newPile(1, shared), newPile(1, shared)
	for _, p := range []*pile{encoded, waits, filled} {
		fill(p, io)
	}
	if encoded.used != pileBytes || waits.used != pileBytes || filled.used != poolBytes-2*pileBytes {
		t.Errorf("of %d bytes piles have %d, %d and %d", poolBytes, encoded.used, waits.used, filled.used)
	}
	encoded.forget(io.ID)
	if fill(filled, rcv); filled.used != pileBytes {
		t.Errorf("the last pile has %d bytes", filled.used)
	}
}

// A host with few rows uses the same little memory again and again.
func TestPoolOfFewRows(t *testing.T) {
	shared, rec := &pool{}, make([]byte, schema.ByName("sock_io").Size())
	defer shared.release()
	piles := []*pile{newPile(1, shared), newPile(1, shared), newPile(1, shared)}
	for i := range 100 {
		p := piles[i%len(piles)]
		if !p.add(schema.ByName("sock_io").ID, 0, rec) {
			t.Fatal("full")
		}
		p.reset()
	}
	if shared.cut != chunkBytes {
		t.Errorf("%d bytes were used for one row at a time", shared.cut)
	}
}
