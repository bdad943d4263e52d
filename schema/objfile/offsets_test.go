package objfile

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
)

func TestOffsets(t *testing.T) {
	b := smallELF(3)
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Offsets("f", "g")
	// All three are called f; the last one counts, as it does for the dynamic loader's table.
	if err != nil || len(got) != 1 || got["f"] != 0x1020 {
		t.Errorf("%#x, %v", got, err)
	}
}

// Whatever a file says, looking for functions neither panics nor takes memory.
func TestOffsetsOfHostileFiles(t *testing.T) {
	good := smallELF(7)
	for what, field := range hostileFields {
		for _, v := range field.values {
			b := bytes.Clone(good)
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], v)
			copy(b[field.off:field.off+field.size], raw[:])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if f, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
				_, _ = f.Offsets("f")
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%s = %#x: %d bytes allocated", what, v, n)
			}
		}
	}
}
