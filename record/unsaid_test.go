package record

import (
	"encoding/binary"
	"testing"

	"netrec/schema"
)

// A disk that stays full loses commit after commit; what the first one had to say about
// losses must come out once, whole, in the first that is written.
func TestLossesOfLostCommitsAreSaidOnce(t *testing.T) {
	u := unsaid{}
	for i := range 5 {
		p := newPile(2, &pool{})
		if err := u.say(p); err != nil {
			t.Fatal(err)
		}
		for cpu := range int32(2) {
			ts := uint64(1000 * (i + 1))
			row := schema.Lost{Header: schema.Header{TS: ts, Event: lostEvent.ID}, Window: 100, Count: 10 + int64(cpu), LostCPU: cpu,
				LostEvent: costEvent.ID, Cause: causeRing}
			if err := p.own(lostEvent.ID, row); err != nil {
				t.Fatal(err)
			}
		}
		u.keep(p.data[lostEvent.ID])
	}
	p := newPile(2, &pool{})
	if err := u.say(p); err != nil {
		t.Fatal(err)
	}
	rows := p.data[lostEvent.ID]
	if n := len(rows) / lostEvent.Size(); n != 2 {
		t.Fatalf("%d rows, want one per CPU", n)
	}
	for ; len(rows) > 0; rows = rows[lostEvent.Size():] {
		var row schema.Lost
		if _, err := binary.Decode(rows, binary.LittleEndian, &row); err != nil {
			t.Fatal(err)
		}
		if row.Count != 5*(10+int64(row.LostCPU)) || row.TS != 5000 || row.Window != 4100 {
			t.Errorf("CPU %d: %d lost in the %d ns up to %d", row.LostCPU, row.Count, row.Window, row.TS)
		}
	}
}
