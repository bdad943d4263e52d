package parquetfile

import "testing"

// FuzzThrift checks that the walker ends, inside its input.
func FuzzThrift(f *testing.F) {
	f.Add([]byte{0x15, 0x02, 0x19, 0x2c, 0x00, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &thrift{b: b}
		r.skip(tStruct, 0)
		if r.pos > len(b) {
			t.Errorf("position %d of %d", r.pos, len(b))
		}
		parseElement(&thrift{b: b})
		new(columnMeta).parse(&thrift{b: b})
		new(pageHeader).parse(&thrift{b: b})
		parseBloomHeader(&thrift{b: b})
	})
}
