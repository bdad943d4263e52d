package scan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

func TestUnknownEventsAreLeftOutAndCounted(t *testing.T) {
	known := []wide{rowAt(0, "tcp_state"), rowAt(2, "tcp_state")}
	mixed := []wide{rowAt(1, "quic_state"), rowAt(3, "tcp_state"), rowAt(4, "quic_state")}
	alone := []wide{rowAt(5, "sctp_state")}
	f, err := open(t, plainFile(t, nil, [][]wide{known, mixed, alone}), Options{})
	must(t, err)
	got, err := scanAll(f, Query{})
	must(t, err)
	same(t, got, []string{known[0].String(), known[1].String(), mixed[1].String()})
	want := "3 rows of events that this version does not know were left out (quic_state, sctp_state); a newer netrec may know them"
	if p := f.Meta().Problems; len(p) != 1 || p[0] != want {
		t.Errorf("problems %q", p)
	}
	if m := f.Meta(); m.Rows["tcp_state"] != 3 || len(m.Rows) != 1 {
		t.Errorf("rows %v", m.Rows)
	}
}

// loose is a table whose times and names may be NULL, as other programs write it.
type loose struct {
	TS    *int64  `parquet:"ts_ns,optional"`
	Event *string `parquet:"event,optional,dict"`
	Seq   *int64  `parquet:"seq,optional"`
}

func parquetOf[T any](t *testing.T, rows []T, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, o...)
	_, err := w.Write(rows)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

func TestRowsWithoutTimeOrName(t *testing.T) {
	e := ptr("tcp_state")
	b := parquetOf(t, []loose{{ptr(int64(30)), e, ptr(int64(1))}, {nil, e, ptr(int64(2))}, {ptr(int64(20)), nil, ptr(int64(3))}, {ptr(int64(10)), e, nil}})
	f, err := open(t, b, Options{})
	must(t, err)
	var got []string
	must(t, f.Scan(Query{}, func(r *Row) error {
		got = append(got, fmt.Sprint(r.TS, r.Has(IntAt(colSeq)), r.Int(IntAt(colSeq)), r.Has(MustInt("pid")), len(r.Str(MustStr("comm")))))
		return nil
	}))
	same(t, got, []string{"10 false 0 false 0", "30 true 1 false 0"})
	if p := strings.Join(f.Meta().Problems, "\n"); !strings.Contains(p, "1 row without a time") || !strings.Contains(p, "NULL") {
		t.Errorf("problems %q", p)
	}
}

func TestIncompatibleColumns(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{parquetOf(t, []struct {
			TS    float64 `parquet:"ts_ns"`
			Event string  `parquet:"event"`
		}{{1, "tcp_state"}}), "ts_ns is DOUBLE, not INT64"},
		{parquetOf(t, []struct {
			TS    int64 `parquet:"ts_ns"`
			Event int32 `parquet:"event"`
		}{{1, 2}}), "event is INT32 (integer), not STRING"},
		{parquetOf(t, []struct {
			TS    int64  `parquet:"ts_ns"`
			Event string `parquet:"event"`
			Pid   string `parquet:"pid"`
		}{{1, "tcp_state", "x"}}), "pid is BYTE_ARRAY (string), not INT32"},
	} {
		_, err := open(t, c.b, Options{})
		if !errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestStatisticsThatLie must not put rows in the wrong order.
func TestStatisticsThatLie(t *testing.T) {
	b := withFooter(t, plainFile(t, nil, [][]wide{{rowAt(5, "tcp_state"), rowAt(6, "tcp_state")}}), func(m *format.FileMetaData) {
		for i := range m.RowGroups[0].Columns {
			if c := &m.RowGroups[0].Columns[i].MetaData; c.PathInSchema[0] == "ts_ns" {
				c.Statistics.MinValue = []byte{0, 0, 0, 0, 0, 0, 0, 1}
				c.Statistics.MaxValue = []byte{0, 0, 0, 0, 0, 0, 0, 2}
			}
		}
	})
	if rows, err := attempt(t, b, nil); rows != 0 || !errors.Is(err, ErrDamaged) {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestMetadata(t *testing.T) {
	kv := map[string]string{
		schema.KeyVersion: `"1.2"`, schema.KeyHost: `{"name":"h","kernel":"6.1","cpus":8}`,
		schema.KeyLosses:  `[{"event":"tcp_state","cpu":3,"generated":9,"recorded":7,"lost_ring":2}]`,
		schema.KeySysctls: `{"net.core.somaxconn":"4096"}`, schema.KeySockets: `null`, schema.KeyQdiscs: `{"not":"a list"}`,
		schema.KeyHooks: `[{"event":`, schema.KeyInterfaces: "[" + strings.Repeat("{},", maxList) + "{}]", "other": "x",
	}
	f, err := open(t, plainFile(t, kv, [][]wide{{rowAt(0, "tcp_state")}}), Options{})
	must(t, err)
	m := f.Meta()
	if m.Version != "1.2" || m.Host.CPUs != 8 || len(m.Losses) != 1 || m.Losses[0].Lost() != 2 || m.Sysctls["net.core.somaxconn"] != "4096" {
		t.Errorf("meta %+v", m)
	}
	if len(m.Interfaces) != maxList {
		t.Errorf("%d interfaces", len(m.Interfaces))
	}
	p := strings.Join(m.Problems, "\n")
	if len(m.Problems) != 3 || !strings.Contains(p, "netrec.hooks") || !strings.Contains(p, "netrec.qdiscs") || !strings.Contains(p, "netrec.interfaces") {
		t.Errorf("problems %q", m.Problems)
	}
}

func TestMemoryIsBoundedByOverlap(t *testing.T) {
	const groups, per = 60, 2000
	row := func(g, i, stride int) wide { return rowAt(g*stride+i, "tcp_rcv_est") }
	build := func(stride int) []byte {
		var all [][]wide
		for g := range groups {
			var rows []wide
			for i := range per {
				rows = append(rows, row(g, i, stride))
			}
			all = append(all, rows)
		}
		return plainFile(t, nil, all)
	}
	// A row group takes some 300 kB decoded.
	small := Options{MaxMemory: 3 << 20}
	f, err := open(t, build(per), small)
	must(t, err)
	n := 0
	must(t, f.Scan(Query{}, func(*Row) error { n++; return nil }))
	if n != groups*per {
		t.Errorf("%d rows", n)
	}
	f, err = open(t, build(1), small)
	must(t, err)
	if err := f.Scan(Query{}, func(*Row) error { return nil }); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want %v", err, ErrLimit)
	}
}

func TestScanStopsOnError(t *testing.T) {
	groups, _ := sample(4000)
	f, err := open(t, plainFile(t, nil, groups), Options{})
	must(t, err)
	stop := errors.New("enough")
	n := 0
	if err := f.Scan(Query{}, func(*Row) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	}); err != stop || n != 10 {
		t.Errorf("%v after %d rows", err, n)
	}
}

func TestScanAllocatesPerGroupNotPerRow(t *testing.T) {
	allocs := func(per int) float64 {
		var groups [][]wide
		for g := range 4 {
			var rows []wide
			for i := range per {
				rows = append(rows, rowAt(2*i+g%2+2*per*(g/2), "tcp_rcv_est"))
			}
			groups = append(groups, rows)
		}
		f, err := open(t, plainFile(t, nil, groups), Options{})
		must(t, err)
		return testing.AllocsPerRun(5, func() { must(t, f.Scan(Query{}, func(*Row) error { return nil })) })
	}
	if few, many := allocs(500), allocs(5000); many > few+50 {
		t.Errorf("%v allocations for 2,000 rows, %v for 20,000", few, many)
	}
}

// TestNewerFormat checks that a newer format is named as the reason, also when
// its table is not readable any more.
func TestNewerFormat(t *testing.T) {
	type future struct {
		TS    float64 `parquet:"ts_ns"`
		Event string  `parquet:"event"`
	}
	kv := parquet.KeyValueMetadata(schema.KeyFormat, "7")
	framed := framedFile(t, [][][]wide{{{rowAt(0, "tcp_state")}}}, func(int) string { return `{"netrec.format":7}` })
	for _, b := range [][]byte{parquetOf(t, []future{{1, "x"}}, kv), framed} {
		_, err := open(t, b, Options{})
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "format 7, this version reads up to 1") {
			t.Errorf("%v", err)
		}
	}
}
