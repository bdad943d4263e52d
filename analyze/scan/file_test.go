package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"netrec/schema"
)

// sample is row groups by event that overlap in time, and their rows in order.
func sample(n int) (groups [][]wide, want []string) {
	events := []string{"tcp_rcv_est", "skb_drop", "tcp_rcv_est", "tcp_state"}
	by := map[string][]wide{}
	var order []string
	for i := range n {
		r := rowAt(i, events[i%len(events)])
		if by[r.Event] == nil {
			order = append(order, r.Event)
		}
		by[r.Event] = append(by[r.Event], r)
		want = append(want, r.String())
	}
	for _, e := range order {
		half := len(by[e]) / 2
		groups = append(groups, by[e][:half], by[e][half:])
	}
	return groups, want
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("row %d of %d and %d:\n got %s\nwant %s", i, len(got), len(want), got[i], want[i])
		}
	}
	t.Fatalf("%d rows, want %d", len(got), len(want))
}

func TestScanPlain(t *testing.T) {
	groups, want := sample(5000)
	for _, c := range []struct {
		name string
		o    []parquet.WriterOption
	}{
		{"v1", []parquet.WriterOption{parquet.DataPageVersion(1)}},
		{"v2", []parquet.WriterOption{parquet.DataPageVersion(2)}},
		{"snappy", []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)}},
		{"gzip", []parquet.WriterOption{parquet.Compression(&parquet.Gzip)}},
		{"zstd", []parquet.WriterOption{parquet.Compression(&parquet.Zstd)}},
		{"pages", []parquet.WriterOption{parquet.PageBufferSize(2000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := open(t, plainFile(t, nil, groups, c.o...), Options{})
			must(t, err)
			got, err := scanAll(f, Query{})
			must(t, err)
			same(t, got, want)
			if len(f.Meta().Problems) > 0 {
				t.Errorf("problems: %q", f.Meta().Problems)
			}
			if n := f.Meta().Rows["tcp_rcv_est"]; n != 2500 {
				t.Errorf("%d rows of tcp_rcv_est, want 2500", n)
			}
		})
	}
}

func TestScanFramed(t *testing.T) {
	groups, want := sample(4000)
	b := framedFile(t, [][][]wide{groups[:2], groups[2:5], groups[5:]}, func(i int) string {
		return `{"netrec.format":1,"netrec.version":"0.1","netrec.recording":{"command":["x"],"events":["all"],"end":"timer"}}`
	})
	f, err := open(t, b, Options{})
	must(t, err)
	got, err := scanAll(f, Query{})
	must(t, err)
	same(t, got, want)
	m := f.Meta()
	if len(m.Problems) > 0 || m.Version != "0.1" || m.Recording.End != "timer" {
		t.Errorf("meta: %+v", m)
	}
	if m.FirstNS != rowAt(0, "").TS || m.LastNS != rowAt(3999, "").TS {
		t.Errorf("from %d to %d", m.FirstNS, m.LastNS)
	}
}

func TestQuery(t *testing.T) {
	groups, _ := sample(4000)
	f, err := open(t, framedFile(t, [][][]wide{groups}, nil), Options{})
	must(t, err)
	sock := rowAt(7, "").Sock
	for _, c := range []struct {
		name string
		q    Query
		want func(i int, r *wide) bool
	}{
		{"events", Query{Events: []string{"skb_drop", "nonesuch"}}, func(_ int, r *wide) bool { return r.Event == "skb_drop" }},
		{"time", Query{From: rowAt(100, "").TS, To: rowAt(200, "").TS}, func(i int, _ *wide) bool { return i >= 100 && i < 200 }},
		{"sock", Query{Sock: sock}, func(_ int, r *wide) bool { return r.Sock == sock }},
		{"no such sock", Query{Sock: 0xffff888000000001}, func(int, *wide) bool { return false }},
		{"all of it", Query{Sock: sock, Events: []string{"tcp_state"}, From: rowAt(50, "").TS},
			func(i int, r *wide) bool { return r.Sock == sock && r.Event == "tcp_state" && i >= 50 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for i := range 4000 {
				r := rowAt(i, []string{"tcp_rcv_est", "skb_drop", "tcp_rcv_est", "tcp_state"}[i%4])
				if c.want(i, &r) {
					want = append(want, r.String())
				}
			}
			got, err := scanAll(f, c.q)
			must(t, err)
			same(t, got, want)
		})
	}
}

func TestColumnsNotAskedForAreEmpty(t *testing.T) {
	groups, _ := sample(100)
	f, err := open(t, plainFile(t, nil, groups), Options{})
	must(t, err)
	rows := 0
	must(t, f.Scan(Query{Columns: []Col{col("comm")}}, func(r *Row) error {
		rows++
		if !strings.HasPrefix(r.Str(MustStr("comm")), "comm") || r.Str(StrAt(colEvent)) != r.Event.Name {
			t.Fatalf("comm %q, event %q", r.Str(MustStr("comm")), r.Str(StrAt(colEvent)))
		}
		for _, c := range []string{"pid", "cpu", "seq", "sock", "snd_cwnd", "kstack"} {
			if r.HasAt(col(c)) {
				t.Fatalf("column %s is filled", c)
			}
		}
		return nil
	}))
	if rows != 100 {
		t.Errorf("%d rows", rows)
	}
}

// What a query shows in place of strings is what rows have, once for each different value of
// a row group, and columns that were not asked for are left alone.
func TestShow(t *testing.T) {
	f, err := Open("../../cmd/netrec/sample.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	comm, host := Col(schema.ColumnIndex("comm")), Col(schema.ColumnIndex("host"))
	calls, rows := 0, 0
	show := map[Col]func(string) string{
		comm: func(s string) string { calls++; return "<" + s + ">" },
		host: func(s string) string { t.Error("asked for a column that is not read"); return s },
	}
	if err := f.Scan(Query{Columns: []Col{comm}, Show: show}, func(r *Row) error {
		if s := r.Str(StrAt(comm)); s == "" || s[0] != '<' || s[len(s)-1] != '>' || s[1] == '<' {
			t.Fatalf("row %d shows %q", rows, s)
		}
		rows++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if rows < 1000 || calls == 0 || calls > rows/4 {
		t.Errorf("%d calls for %d rows", calls, rows)
	}
	// Longer strings count for the limit of memory.
	wide := map[Col]func(string) string{comm: func(string) string { return string(make([]byte, 1<<20)) }}
	small, err := Open("../../cmd/netrec/sample.parquet", Options{MaxMemory: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if err := small.Scan(Query{Columns: []Col{comm}, Show: wide}, func(*Row) error { return nil }); err == nil {
		t.Error("strings beyond the limit were accepted")
	}
}
