package scan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestScanEndsWhenMemoryIsFull: whatever is made of rows, a scan ends when it has its share of
// the memory, and says where.
func TestScanEndsWhenMemoryIsFull(t *testing.T) {
	const limit, each, total = 256 << 20, 8 << 10, 20011
	var rows []wide
	for i := range total {
		rows = append(rows, rowAt(i, "tcp_state"))
	}
	f, err := open(t, plainFile(t, nil, [][]wide{rows}), Options{Memory: limit})
	must(t, err)
	var kept [][]byte
	last := int64(0)
	full, err := Fitted(f.Scan(Query{}, func(r *Row) error {
		kept, last = append(kept, make([]byte, each)), r.TS
		return nil
	}))
	must(t, err)
	if full == nil || !errors.Is(full.Err(), ErrLimit) || full.Limit != limit || full.At != last {
		t.Fatalf("%d rows, the last at %d: %+v", len(kept), last, full)
	}
	if n := int64(len(kept) * each); n < share(limit, keptShare)/2 || n > limit/2 {
		t.Errorf("kept %d bytes", n)
	}
	kept = nil
	n := 0
	must(t, f.Scan(Query{}, func(*Row) error { n++; return nil }))
	if n != total {
		t.Errorf("%d rows where none is kept", n)
	}
}

func TestFullSaysHowMuchWasRead(t *testing.T) {
	for _, c := range []struct {
		at, limit int64
		to        int64
		want      string
	}{
		{3_140_000_000, 512 << 20, 60e9, "from the first 3.1 s of 60.0 s: the memory limit of 512 MiB was reached; --memory 2G gives it more"},
		{30_000_000, 2 << 30, 1e9, "from the first 0.030 s of 1.000 s: the memory limit of 2 GiB was reached; --memory 8G gives it more"},
		{-5, 130 << 20, 1e9, "from the first 0.000 s of 1.000 s: the memory limit of 130 MiB was reached; --memory 520M gives it more"},
	} {
		const start = 1e18
		if got := (&Full{At: start + c.at, Limit: c.limit}).Part(start, start+c.to); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	if (*Full)(nil).Err() != nil {
		t.Error("no Full is an error")
	}
}

func TestDefaultMemory(t *testing.T) {
	for size, want := range map[int64]int64{0: 512 << 20, 64 << 20: 512 << 20, 1 << 30: 8 << 30} {
		if got := (Options{}).withDefaults(size).Memory; got != want {
			t.Errorf("file of %d bytes: %d, want %d", size, got, want)
		}
	}
}

// TestLongTextIsCut: what is longer than any recorder writes is cut in every encoding, and says so.
func TestLongTextIsCut(t *testing.T) {
	row, same := rowAt(1, "skb_drop"), rowAt(2, "skb_drop")
	row.Comm = strings.Repeat("ä", 300_000)
	row.Kstack = ptr(strings.Repeat("f;", 400_000))
	same.Comm, same.Kstack = strings.Repeat("c", maxShort), ptr(strings.Repeat("f", maxLong))
	for _, o := range []parquet.WriterOption{parquet.DataPageVersion(1), parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaLengthByteArray)} {
		f, err := open(t, plainFile(t, nil, [][]wide{{row, same}}, o), Options{})
		must(t, err)
		var got [][2]string
		must(t, f.Scan(Query{}, func(r *Row) error {
			got = append(got, [2]string{r.Str(MustStr("comm")), r.Str(MustStr("kstack"))})
			return nil
		}))
		want := [][2]string{
			{row.Comm[:maxShort] + "… (cut, 600,000 bytes)", (*row.Kstack)[:maxLong] + "… (cut, 800,000 bytes)"},
			{same.Comm, *same.Kstack}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d rows, lengths %d %d", len(got), len(got[0][0]), len(got[0][1]))
		}
	}
}
