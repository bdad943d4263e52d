package scan

import (
	"bytes"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"netrec/schema"
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

// FuzzFooter puts anything into a footer that grows, under a checksum that is right, in a file
// whose first commit is damaged: columns are then looked for in footers.
func FuzzFooter(f *testing.F) {
	b, _ := smallCapture(f)
	ends := frameEnds(f, b)
	b[ends[0]-1] ^= 1
	last := ends[1] + schema.TrailerSize // the second has no footer
	fr, err := schema.ParseFrame(b[last:], [schema.NonceSize]byte(b[4:]), 2)
	must(f, err)
	foot, body := b[ends[2]:][:fr.Footer], b[last+schema.FrameSize:ends[2]]
	forged := func(foot []byte, room uint32) []byte {
		fr := fr
		fr.Footer, fr.Room = uint32(len(foot)), room%uint32(len(foot)+1)
		fr.FooterCRC = crc32.Checksum(foot[fr.Room:], schema.Castagnoli)
		return slices.Concat(fr.Append(bytes.Clone(b[:last])), body, foot, b[len(b)-schema.TrailerSize:])
	}
	roomy := append(make([]byte, 64), foot...)
	if rows, err := attempt(f, forged(roomy, 64), nil); rows != 40 {
		f.Fatalf("%d rows of the two commits that are whole, %v", rows, err)
	}
	f.Add(foot, uint32(0))
	f.Add(roomy, uint32(64))
	f.Fuzz(func(t *testing.T, foot []byte, room uint32) { attempt(t, forged(foot, room), nil) })
}
