package scan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"netrec/schema"
)

// TestMain lets the heap grow further between collections: the hostile tests
// open some hundred thousand small files.
func TestMain(m *testing.M) {
	debug.SetGCPercent(2000)
	m.Run()
}

// limits of the hostile tests; a megabyte or so goes to fixed buffers.
const (
	hostileMemory = 16 << 20
	hostileAlloc  = 48 << 20
)

// stride is how far apart the bytes are that tests cut at or change.
func stride() int {
	if testing.Short() {
		return 13
	}
	return 1
}

// attempt opens and scans bytes that may be anything. It fails the test if that
// takes more memory than allowed, returns an error without a type, or delivers
// a row that is not in written; a panic fails it by itself.
func attempt(t testing.TB, b []byte, written map[string]bool) (rows int, err error) {
	t.Helper()
	before := allocated()
	f, err := open(t, b, Options{MaxMemory: hostileMemory})
	if err == nil {
		err = f.Scan(Query{}, func(r *Row) error {
			rows++
			if written != nil && !written[text(r)] {
				t.Fatalf("a row that nobody wrote: %s", text(r))
			}
			return nil
		})
	}
	// The test itself allocates for the text of each row.
	if n := allocated() - before; n > hostileAlloc+uint64(rows)*4000 {
		t.Fatalf("%d bytes allocated for a file of %d and %d rows", n, len(b), rows)
	}
	if err != nil && strings.Contains(err.Error(), "decoder stopped") {
		t.Fatalf("a panic that no check prevented: %v", err)
	}
	if err != nil && !typedError(err) {
		t.Fatalf("error without a type: %v", err)
	}
	return rows, err
}

// typedError reports whether an error says what kind of fault it is.
func typedError(err error) bool {
	return slices.ContainsFunc([]error{ErrNotCapture, ErrDamaged, ErrNewer, ErrColumn, ErrLimit, ErrUnsupport}, func(kind error) bool { return errors.Is(err, kind) })
}

// allocated is how many bytes the program has ever allocated.
func allocated() uint64 {
	m := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64()
}

// smallCapture is a recording of three commits, the set of its rows, and how
// many rows the file has when cut at each commit's end.
func smallCapture(t testing.TB) ([]byte, map[string]bool) {
	written := map[string]bool{}
	var commits [][][]wide
	for i, event := range []string{"tcp_rcv_est", "skb_drop", "tcp_state"} {
		var g []wide
		for k := range 20 {
			r := rowAt(20*i+k, event)
			written[r.String()] = true
			g = append(g, r)
		}
		commits = append(commits, [][]wide{g})
	}
	b := framedFile(t, commits, func(int) string {
		return `{"netrec.format":1,"netrec.losses":[{"event":"skb_drop","cpu":1,"generated":5,"recorded":5}]}`
	})
	return b, written
}

// frameEnds are the offsets at which the bodies of the commits end.
func frameEnds(t testing.TB, b []byte) (ends []int) {
	var nonce [schema.NonceSize]byte
	copy(nonce[:], b[4:])
	for off, seq := schema.FileStart, uint64(0); off < len(b); seq++ {
		fr, err := schema.ParseFrame(b[off:], nonce, seq)
		must(t, err)
		ends = append(ends, off+schema.FrameSize+int(fr.Body))
		off += int(fr.Len())
	}
	return ends
}

func TestTruncatedAtEveryLength(t *testing.T) {
	b, written := smallCapture(t)
	ends := frameEnds(t, b)
	complete := []int{0, 20, 40, 60} // rows after so many commits
	for n := 0; n < len(b); n += stride() {
		rows, err := attempt(t, b[:n], written)
		k := 0
		for k < len(ends) && ends[k] <= n {
			k++
		}
		if rows != complete[k] || (err == nil) != (k > 0) {
			t.Fatalf("cut at %d of %d: %d rows, %v; want %d", n, len(b), rows, err, complete[k])
		}
	}
}

func TestFlippedCapture(t *testing.T) {
	b, written := smallCapture(t)
	for at := 0; at < len(b); at += stride() {
		c := bytes.Clone(b)
		c[at] ^= 1 << (at % 8)
		attempt(t, c, written)
	}
}

func TestRandomFlips(t *testing.T) {
	framed, written := smallCapture(t)
	groups, _ := sample(40)
	groups = groups[:3]
	plain := plainFile(t, nil, groups, parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1))
	v2 := plainFile(t, nil, groups, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(2), parquet.PageBufferSize(100))
	r := rand.New(rand.NewPCG(1, 2))
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	for i := range n {
		src, set := framed, written
		switch i % 4 {
		case 1:
			src, set = plain, nil
		case 2:
			src, set = v2, nil
		}
		c := bytes.Clone(src)
		for range 1 + r.IntN(3) {
			c[r.IntN(len(c))] ^= byte(1 + r.IntN(255))
		}
		attempt(t, c, set)
	}
}

// TestFlippedPlain changes every byte of the footer and of all pages of a file
// that no checksum protects.
func TestFlippedPlain(t *testing.T) {
	groups, _ := sample(40)
	for _, o := range [][]parquet.WriterOption{
		{parquet.DataPageVersion(1)},
		{parquet.DataPageVersion(2), parquet.Compression(&parquet.Gzip)},
	} {
		b := plainFile(t, nil, groups[:2], o...)
		for at := 0; at < len(b); at += stride() {
			for _, x := range []byte{1 << (at % 8), 0xff} {
				c := bytes.Clone(b)
				c[at] ^= x
				attempt(t, c, nil)
			}
		}
	}
}

func TestFlippedForeign(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, b := range foreignFiles(t) {
		for range 300 {
			c := bytes.Clone(b)
			for range 1 + r.IntN(3) {
				c[r.IntN(len(c))] ^= byte(1 + r.IntN(255))
			}
			if rows, _ := attempt(t, c, nil); rows > 1<<20 {
				t.Fatalf("%s: %d rows", name, rows)
			}
		}
	}
}

// reseal gives a capture of one commit a body of other bytes under checksums that
// are right, as somebody who means harm would.
func reseal(body []byte, checkpoint int) []byte {
	nonce := [schema.NonceSize]byte{1}
	out := append([]byte(schema.Magic), nonce[:]...)
	cut := len(body) - min(max(checkpoint, 0), len(body))
	return appendCommit(out, nonce, 0, body[:cut], body[cut:], nil)
}

// firstBody is the body of the first commit of a capture and the length of its checkpoint.
func firstBody(t testing.TB, b []byte) ([]byte, int) {
	fr, err := schema.ParseFrame(b[schema.FileStart:], [schema.NonceSize]byte(b[4:]), 0)
	must(t, err)
	return b[schema.FileStart+schema.FrameSize:][:fr.Body], int(fr.Checkpoint)
}

func TestFlippedUnderGoodChecksum(t *testing.T) {
	b, written := smallCapture(t)
	body, checkpoint := firstBody(t, b)
	if rows, err := attempt(t, reseal(body, checkpoint), written); rows != 20 || err != nil {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for at := 0; at < len(body); at += stride() {
		c := bytes.Clone(body)
		c[at] ^= 1 << (at % 8)
		attempt(t, reseal(c, checkpoint), nil)
	}
}

func TestDamagedCommitIsLeftOut(t *testing.T) {
	b, written := smallCapture(t)
	ends := frameEnds(t, b)
	for _, c := range []struct {
		name string
		at   int
		rows int
	}{
		{"first body", ends[0] / 2, 40},
		{"first header", schema.FileStart + 30, 40},
		{"first magic", schema.FileStart, 40},
		{"nonce", 5, 60},
		{"second body", ends[1] - 10, 40},
		{"third header", ends[1] + schema.TrailerSize + 40, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := bytes.Clone(b)
			d[c.at] ^= 4
			rows, err := attempt(t, d, written)
			if rows != c.rows || err != nil {
				t.Errorf("%d rows, %v; want %d", rows, err, c.rows)
			}
			f, err := open(t, d, Options{})
			must(t, err)
			if len(f.Meta().Problems) < 2 { // the damage, and that there is no stop mark
				t.Errorf("problems %q", f.Meta().Problems)
			}
		})
	}
}
