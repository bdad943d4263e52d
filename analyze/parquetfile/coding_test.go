package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/bloom/xxhash"
	pqdelta "github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

func TestHybridAgainstWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := range 32 {
		var src []int32
		for len(src) < 1000 {
			v := int32(r.Uint32N(1 << width))
			for range 1 + r.IntN(20)*r.IntN(2) {
				src = append(src, v)
			}
		}
		b, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, src)
		must(t, err)
		dst := make([]int32, len(src))
		must(t, hybrid(b, width, dst, math.MaxInt32))
		if !slices.Equal(dst, src) {
			t.Errorf("width %d: values differ", width)
		}
		for n := range b {
			if err := hybrid(b[:n], width, dst, math.MaxInt32); err == nil && width > 0 {
				t.Fatalf("width %d: cut at %d of %d was accepted", width, n, len(b))
			}
		}
	}
}

func TestDeltaAgainstWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for width := range 65 {
		src := make([]int64, 1+r.IntN(700))
		for i := range src {
			src[i] = int64(r.Uint64() >> (64 - width) & (1<<width - 1))
			if width == 64 {
				src[i] = int64(r.Uint64())
			}
		}
		b, err := new(pqdelta.BinaryPackedEncoding).EncodeInt64(nil, src)
		must(t, err)
		dst := make([]int64, len(src))
		rest, err := delta(b, dst)
		must(t, err)
		if !slices.Equal(dst, src) || len(rest) != 0 {
			t.Errorf("width %d: values differ, %d bytes left", width, len(rest))
		}
		for n := range b {
			_, _ = delta(b[:n], dst) // must not panic; padding may be cut
		}
	}
}

// TestRunsThatLie are runs that claim more values than there are.
func TestRunsThatLie(t *testing.T) {
	claim := func(h uint64, data ...byte) []byte { return append(binary.AppendUvarint(nil, h), data...) }
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"2^31 equal values", claim(1<<32, 1)},
		{"2^63 equal values", claim(1<<63, 1)},
		{"no values", claim(0, 1)},
		{"2^31 packed groups", claim(1<<32|1, 1)},
		{"most packed groups", claim(math.MaxUint64, 1)},
		{"no packed groups", claim(1, 1)},
		{"empty", nil},
		{"endless number", bytes.Repeat([]byte{0xff}, 20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := levels(c.b, make([]bool, 100)); err == nil {
				t.Error("levels accepted")
			}
			if err := hybrid(c.b, 1, make([]int32, 100), 2); err == nil {
				t.Error("positions accepted")
			}
		})
	}
	if err := hybrid(claim(20, 7), 3, make([]int32, 10), 7); err == nil {
		t.Error("position past the dictionary accepted")
	}
	if err := hybrid(claim(3, 0xff, 0xff, 0xff), 3, make([]int32, 8), 7); err == nil {
		t.Error("packed position past the dictionary accepted")
	}
}

func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		v := r.Uint64()
		if got, want := hash8(v), xxhash.Sum64Uint64(v); got != want {
			t.Fatalf("hash of %#x is %#x, want %#x", v, got, want)
		}
	}
}
