package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"

	"netrec/analyze/parquetfile"
)

// Row groups of a checkpoint are compressed, and say how long they are before that. Neither
// may ask for more memory than the section could stand for.
func TestPackedRowGroupsAreBounded(t *testing.T) {
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	packed := func(said int, thrift []byte) []byte {
		return zip.EncodeAll(thrift, binary.LittleEndian.AppendUint32(nil, uint32(said)))
	}
	o := Options{MaxFooter: 1 << 20, MaxGroups: 8}.withDefaults(1 << 20)
	for name, tc := range map[string]struct {
		section []byte
		want    error
	}{
		"nothing":                 {nil, ErrDamaged},
		"longer than the limit":   {packed(2<<20, make([]byte, 2<<20)), ErrLimit},
		"longer than it can be":   {append(binary.LittleEndian.AppendUint32(nil, 1<<20), 1, 2, 3), ErrDamaged},
		"longer than said":        {packed(10, make([]byte, 1000)), ErrDamaged},
		"shorter than said":       {packed(1000, make([]byte, 10)), ErrDamaged},
		"not compressed":          {append(binary.LittleEndian.AppendUint32(nil, 8), "rowgroup"...), ErrDamaged},
		"no row group":            {packed(3, []byte{1, 2, 3}), ErrDamaged},
		"a row group of no thing": {packed(4, make([]byte, 4)), ErrDamaged},
	} {
		w := newWalker(bytes.NewReader(nil), 0, &o)
		w.leaves = []parquetfile.Leaf{{Name: "ts_ns"}}
		c := commit{walker: w, kv: map[string][]byte{}}
		if err := c.rowGroups(tc.section); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		w.inflate.Close()
	}
}
