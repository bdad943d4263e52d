package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// worker is a row with a cell of each kind.
type worker struct {
	pid, kb, us int64
	comm        string
	sock        uint64
}

func people(a *Answer) *List[worker] {
	return ListOf(a.Table, Spec{Name: "people"}, NonZero("pid", func(w *worker) int64 { return w.pid }).Text("PID", -5),
		Text("comm", func(w *worker) string { return w.comm }).Text("COMM", -6).Cut(), Num("kb", func(w *worker) int64 { return w.kb }).Text("KB", 5),
		Num("ms", func(w *worker) int64 { return w.us }).As(Fixed).Digits(3).Text("MS", 0).Sep(" -> "), Address("sock", func(w *worker) uint64 { return w.sock }),
		Num("time", func(*worker) int64 { return 0 }).As(Clock).ForPeople())
}

func fill(l *List[worker]) {
	l.Line(worker{7, 12, 1500, "averylong", 0xffff888012345678})
	l.Line(worker{0, -3, -5, "a\x1bb", math.MaxUint64})
}

// number is the column of a table of numbers.
func number(name string) Field[int64] { return Num(name, func(n *int64) int64 { return *n }) }

func show(t *testing.T, format string, style Style, f func(*Answer)) (out, side string) {
	t.Helper()
	var b, s bytes.Buffer
	o, err := NewOutput(format, style, &b, &s)
	if err != nil {
		t.Fatal(err)
	}
	a := o.Answer("test")
	a.Begin([]string{"limit"})
	f(a)
	a.End()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), s.String()
}

func TestFormats(t *testing.T) {
	tests := []struct{ format, out, side string }{
		{"text", "# test: limit\nPID   COMM      KB -> MS\n7     averyl    12 -> 1.500\n      a\\x1bb    -3 -> -0.005\n", ""},
		{"csv", "pid,comm,kb,ms,sock\n7,averylong,12,1.500,0xffff888012345678\n,a\\x1bb,-3,-0.005,0xffffffffffffffff\n", "# test: limit\n"},
		{"ndjson", `{"analysis":"test","table":"people","pid":7,"comm":"averylong","kb":12,"ms":1.500,"sock":"0xffff888012345678"}` + "\n" +
			`{"analysis":"test","table":"people","pid":null,"comm":"a\u001bb","kb":-3,"ms":-0.005,"sock":"0xffffffffffffffff"}` + "\n", "# test: limit\n"},
	}
	for _, tt := range tests {
		out, side := show(t, tt.format, Bpftrace, func(a *Answer) { fill(people(a)) })
		if out != tt.out || side != tt.side {
			t.Errorf("%s:\n%s\nwant:\n%s\nbeside: %q", tt.format, out, tt.out, side)
		}
	}
}

func TestJSONIsValid(t *testing.T) {
	var b bytes.Buffer
	o, err := NewOutput("json", Bpftrace, &b, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		a := o.Answer(fmt.Sprint("a", i))
		a.Begin([]string{"x\"y"})
		fill(people(a))
		fill(people(a))
		a.Note("n")
		a.End()
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Answers []struct {
			Analysis      string
			Limits, Notes []string
			Tables        []struct{ Rows []map[string]any }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	if len(got.Answers) != 3 || got.Answers[2].Analysis != "a2" || len(got.Answers[1].Tables) != 2 || len(got.Answers[1].Tables[1].Rows) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestArrow(t *testing.T) {
	const rows = arrowBatch + 10
	out, _ := show(t, "arrow", Bpftrace, func(a *Answer) {
		tab := people(a)
		for i := range int64(rows) {
			tab.Line(worker{i, i, i, "x\xff", 1<<63 + uint64(i)})
		}
	})
	r, err := ipc.NewReader(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := int64(0)
	for r.Next() {
		rec := r.Record()
		n += rec.NumRows()
		if got := rec.Column(1).(*array.String).Value(0); got != "x\ufffd" {
			t.Errorf("string %q", got)
		}
		if got := rec.Column(4).(*array.Uint64).Value(0); got < 1<<63 {
			t.Errorf("address %x lost its top bit", got)
		}
	}
	if n != rows || r.Err() != nil {
		t.Errorf("%d rows, %v", n, r.Err())
	}
}

// TestSpool makes a waiting answer larger than its memory and checks the order.
func TestSpool(t *testing.T) {
	var b bytes.Buffer
	o, err := NewOutput("csv", Bpftrace, &b, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Name: "n"}
	first, second := o.Answer("first"), o.Answer("second")
	ft, st := ListOf(first.Table, spec, number("n")), ListOf(second.Table, spec, number("n"))
	const rows = 300_000
	for i := range int64(rows) {
		st.Line(i)
		ft.Line(-i)
	}
	if second.spool.file == nil {
		t.Error("nothing went to a file")
	}
	first.End()
	second.End()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if lines[1] != "0" || lines[rows] != fmt.Sprint(1-rows) || lines[rows+1] != "" || lines[rows+2] != "n" || lines[2*rows+2] != fmt.Sprint(rows-1) {
		t.Errorf("order: %q %q %q %q %q", lines[1], lines[rows], lines[rows+1], lines[rows+2], lines[2*rows+2])
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputErrorStays(t *testing.T) {
	for _, format := range Formats {
		o, err := NewOutput(format, Bpftrace, fullDisk{}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		a := o.Answer("x")
		a.Begin(nil)
		tab := people(a)
		for range 20_000 {
			fill(tab)
		}
		a.End()
		if o.Err() == nil || o.Close() == nil {
			t.Errorf("%s: no error from a full disk", format)
		}
	}
}

func TestHeldTableDrops(t *testing.T) {
	out, _ := show(t, "ndjson", Bpftrace, func(a *Answer) {
		held, live := ListOf(a.Table, Spec{Name: "h"}, number("v")), ListOf(a.Table, Spec{Name: "l"}, number("v"))
		held.Hold(2)
		for i := range int64(3) {
			held.Line(i)
			live.Line(10 + i)
		}
		held.Show()
		if held.Dropped != 1 {
			t.Errorf("dropped %d", held.Dropped)
		}
	})
	var order []string
	for _, v := range regexp.MustCompile(`"v":([0-9]+)`).FindAllStringSubmatch(out, -1) {
		order = append(order, v[1])
	}
	if got := strings.Join(order, " "); got != "10 11 12 0 1" {
		t.Errorf("rows %s in\n%s", got, out)
	}
}

func TestRowsDoNotAllocate(t *testing.T) {
	for _, format := range []string{"text", "csv", "json", "ndjson"} {
		o, err := NewOutput(format, Bpftrace, io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		a := o.Answer("x")
		a.Begin(nil)
		tab := people(a)
		fill(tab)
		if n := testing.AllocsPerRun(1000, func() { fill(tab) }); n > 0 {
			t.Errorf("%s: %v allocations per two rows", format, n)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	for _, format := range Formats {
		b.Run(format, func(b *testing.B) {
			o, err := NewOutput(format, Bpftrace, io.Discard, io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			a := o.Answer("x")
			a.Begin(nil)
			tab := people(a)
			b.ReportAllocs()
			for range b.N {
				tab.Line(worker{7, 12, 1500, "curl", 0xffff888012345678})
			}
		})
	}
}

// TestChoice has three tables: a stream of csv holds one, and says what else there is.
func TestChoice(t *testing.T) {
	fill := func(a *Answer) {
		for i, name := range []string{"facts", "main", "rest", "raw"} {
			ListOf(a.Table, Spec{Name: name, Data: name == "raw"}, number("v").Text("V", 3)).Line(int64(i))
		}
		ListOf(a.Table, Spec{Name: "empty"}, number("v"))
	}
	for _, c := range []struct {
		format, only string
		main         []string
		out, side    string
	}{
		{"csv", "", nil, "v\n0\n", "# x: csv has one table; --table chooses another: main, rest, raw\n"},
		{"csv", "", []string{"main"}, "v\n1\n", "# x: csv has one table; --table chooses another: facts, rest, raw\n"},
		{"csv", "", []string{"empty"}, "v\n", "# x: csv has one table; --table chooses another: facts, main, rest, raw\n"},
		{"csv", "rest", []string{"main"}, "v\n2\n", ""},
		{"text", "", nil, "  V\n  0\n\n  V\n  1\n\n  V\n  2\n", ""},
		{"text", "raw", nil, "  V\n  3\n", ""},
		{"ndjson", "main", nil, `{"analysis":"x","table":"main","v":1}` + "\n", ""},
	} {
		var out, side bytes.Buffer
		o, err := NewOutput(c.format, Bpftrace, &out, &side)
		if err != nil {
			t.Fatal(err)
		}
		o.Choose(c.only, false)
		a := o.Answer("x")
		a.Main(c.main)
		a.Begin(nil)
		fill(a)
		a.End()
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.out || side.String() != c.side {
			t.Errorf("%s --table %q, main %v:\n%q\n%q\nwant\n%q\n%q", c.format, c.only, c.main, out.String(), side.String(), c.out, c.side)
		}
		if names, unknown := o.Unknown(); unknown || len(names) != 5 {
			t.Errorf("tables %v", names)
		}
	}
}
