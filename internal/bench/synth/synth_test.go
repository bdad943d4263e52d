package synth

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// play is the records of a host after so many rows, and how many each event has.
func play(seed uint64, rows int64) ([]byte, map[string]int64) {
	h, sum, counts := newHost(seed, Start), sha256.New(), map[string]int64{}
	for h.rows < rows {
		h.scene()
	}
	for _, m := range h.all {
		sum.Write(m.data)
		if !m.event.Own() {
			counts[m.event.Name] = m.rows
		}
	}
	return sum.Sum(nil), counts
}

func TestSameSeedSameRows(t *testing.T) {
	a, _ := play(7, 50_000)
	b, _ := play(7, 50_000)
	c, _ := play(8, 50_000)
	if !bytes.Equal(a, b) || bytes.Equal(a, c) {
		t.Error("rows depend on something else than the seed, or not on it")
	}
}

func TestEveryEvent(t *testing.T) {
	_, counts := play(1, 200_000)
	for event, n := range counts {
		if n == 0 {
			t.Errorf("event %s has no row", event)
		}
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.parquet")
	n, err := Write(path, Options{Rows: 60_000, Seed: 3})
	if err != nil || n < 60_000 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() < n {
		t.Errorf("file: %v, %v", st, err)
	}
}

// TestAddressesAreReused: memory of analyses is bounded by what is alive only if a
// capture is like that.
func TestAddressesAreReused(t *testing.T) {
	h := newHost(5, Start)
	for h.rows < 300_000 {
		h.scene()
	}
	if n := h.skbs.next; n > 3000 {
		t.Errorf("%d addresses for packets", n)
	}
	if n := h.socks.next; n > 3*open {
		t.Errorf("%d addresses for sockets", n)
	}
}
