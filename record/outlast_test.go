package record

import (
	"encoding/binary"
	"testing"

	"netrec/schema"
)

// TestOutlast: a row that a probe made after the recording was stopped is within the recording.
func TestOutlast(t *testing.T) {
	s := &session{}
	sizes := recordSizes()
	s.drain = &drain{pile: newPile(2, &pool{}), sizes: sizes}
	s.stopped = 1000
	add := func(name string, cpu int, at uint64) {
		e := schema.ByName(name)
		rec := make([]byte, sizes[e.ID])
		binary.LittleEndian.PutUint64(rec[timeOffset:], at)
		if !s.drain.pile.add(e.ID, cpu, rec) {
			t.Fatal("no room")
		}
	}
	defer s.drain.pile.from.release()
	add("sock_io", 0, 990)
	if s.outlast(); s.stopped != 1000 {
		t.Errorf("stopped at %d by an earlier row, want 1000", s.stopped)
	}
	add("sock_io", 1, 1006)
	add("tcp_state", 0, 1004)
	add("sock_io", 0, 998)
	if s.outlast(); s.stopped != 1006 || s.meta.StopNS != s.wall(1006) {
		t.Errorf("stopped at %d, told as %d, want 1006", s.stopped, s.meta.StopNS)
	}
}
