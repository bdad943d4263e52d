package scan

import (
	"testing"

	"github.com/parquet-go/parquet-go"
)

// FuzzOpen feeds anything to Open and Scan, with every limit small.
func FuzzOpen(f *testing.F) {
	framed, _ := smallCapture(f)
	f.Add(framed)
	groups, _ := sample(40)
	f.Add(plainFile(f, map[string]string{"netrec.format": "1"}, groups[:2], parquet.DataPageVersion(1)))
	f.Add(plainFile(f, nil, groups[:2], parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)))
	f.Add([]byte("PAR1\xff\xff\xff\xffPAR1"))
	f.Fuzz(func(t *testing.T, b []byte) { attempt(t, b, nil) })
}

// FuzzCommit puts anything under checksums that are right.
func FuzzCommit(f *testing.F) {
	b, _ := smallCapture(f)
	body, checkpoint := firstBody(f, b)
	f.Add(body, checkpoint)
	f.Fuzz(func(t *testing.T, body []byte, checkpoint int) { attempt(t, reseal(body, checkpoint), nil) })
}

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
