package parquetfile

import (
	"errors"
	"runtime/metrics"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestBomb puts a page that inflates to a gigabyte in the place of a real one,
// under a header that declares little and under one that declares it all.
func TestBomb(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	must(t, err)
	bomb := enc.EncodeAll(make([]byte, 1<<28), nil)
	var z Inflater
	defer z.Close()
	before := allocated()
	if err := z.inflate(codecZstd, make([]byte, 4096), bomb); err == nil {
		t.Error("inflated past the declared size")
	}
	if n := allocated() - before; n > 32<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	d := &Decoder{Table: &Table{}, Pool: NewPool(1<<20, func() error { return ErrLimit })}
	s := column{Decoder: d}
	if _, err := s.inflate(codecZstd, bomb, 1<<28); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want %v", err, ErrLimit)
	}
}

// allocated is how many bytes the program has ever allocated.
func allocated() uint64 {
	m := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
