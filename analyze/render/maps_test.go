package render

import (
	"math"
	"strings"
	"testing"
)

// entry is a row of a map.
type entry struct {
	stack, key       string
	low, high, count int64
}

// none is the bound of a bucket that has none.
const none = math.MinInt64

var (
	entryKey   = Text("key", func(e *entry) string { return e.key })
	entryCount = Num("count", func(e *entry) int64 { return e.count })
)

func histMap(a *Answer, name, unit string, keys int) *List[entry] {
	fields := []Field[entry]{entryKey, NumOr("low", func(e *entry) (int64, bool) { return e.low, e.low != none }).In(unit),
		NumOr("high", func(e *entry) (int64, bool) { return e.high, e.high != none }).In(unit), entryCount}
	return ListOf(a.Table, Spec{Name: name, Look: MapHist, Keys: keys}, fields[1-keys:]...)
}

func TestLooks(t *testing.T) {
	full := strings.Repeat("@", barWidth)
	tests := []struct {
		name  string
		style Style
		fill  func(*Answer)
		want  string
	}{
		{"hist labels and bars", Bpftrace, func(a *Answer) {
			m := histMap(a, "us", "us", 0)
			m.Line(entry{low: none, high: 0, count: 1})
			m.Line(entry{low: 0, high: 1, count: 2})
			m.Line(entry{low: 512, high: 1024, count: 3})
			m.Line(entry{low: 1 << 30, high: 1 << 31})
			m.Line(entry{low: 1 << 62, high: none, count: 3})
		}, "@us:\n" +
			"(..., 0)               1 |" + strings.Repeat("@", 17) + strings.Repeat(" ", 35) + "|\n" +
			"[0]                    2 |" + strings.Repeat("@", 34) + strings.Repeat(" ", 18) + "|\n" +
			"[512, 1K)              3 |" + full + "|\n" +
			"[1G, 2G)               0 |" + strings.Repeat(" ", 52) + "|\n" +
			"[4E, ...)              3 |" + full + "|\n\n"},
		{"linear buckets", Bpftrace, func(a *Answer) {
			m := histMap(a, "cpu", "", 1)
			m.Line(entry{key: "eth0", low: 3, high: 4, count: 1})
			m.Line(entry{key: "eth0", low: 10, high: 20, count: 1})
			m.Line(entry{key: "eth1", low: 100, high: none, count: 1})
		}, "@cpu[eth0]:\n[3]                    1 |" + full + "|\n[10, 20)               1 |" + full + "|\n\n" +
			"@cpu[eth1]:\n[100, ...)             1 |" + full + "|\n\n"},
		{"stack keys", Bpftrace, func(a *Answer) {
			m := ListOf(a.Table, Spec{Name: "s", Look: MapCount, Keys: 2}, Text("stack", func(e *entry) string { return e.stack }).As(Stack), entryKey, entryCount)
			m.Line(entry{stack: "app(1a2b3c4d)+0x1139;main+0x1;write+0x1a;sys\x1b", key: "curl", count: 2})
			m.Line(entry{key: "x", count: 3})
		}, "@s[\n    sys\\x1b\n    write+26\n    main+1\n    app(1a2b3c4d)+0x1139\n, curl]: 2\n@s[\n, x]: 3\n\n"},
		{"wide BCC histogram has half the stars", BCC, func(a *Answer) {
			histMap(a, "ns", "nsecs", 0).Line(entry{low: 1 << 33, high: 1 << 34, count: 5})
		}, ""},
	}
	for _, tt := range tests {
		got, _ := show(t, "text", tt.style, tt.fill)
		got = strings.TrimPrefix(got, "# test: limit\n")
		if tt.want == "" {
			lines := strings.Split(got, "\n")
			if lines[1] != "               nsecs                         : count     distribution" ||
				lines[2] != "                   0 -> 1                    : 0        |                    |" ||
				lines[35] != "          8589934592 -> 17179869183          : 5        |********************|" {
				t.Errorf("%s:\n%s", tt.name, got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, tt.want)
		}
	}
}

func TestBarIsFloor(t *testing.T) {
	for _, tt := range []struct {
		count, most int64
		want        int
	}{{431, 4199, 5}, {148, 4199, 1}, {29, 4199, 0}, {2, 3, 34}, {4199, 4199, 52}, {math.MaxInt64, math.MaxInt64, 52}} {
		bar := appendBar(nil, '@', tt.count, tt.most, barWidth)
		if n := strings.Count(string(bar), "@"); n != tt.want || len(bar) != barWidth {
			t.Errorf("%d of %d: %d marks, want %d", tt.count, tt.most, n, tt.want)
		}
	}
}

func TestRound(t *testing.T) {
	for _, tt := range []struct{ ns, want int64 }{{9650000, 965}, {99264999, 9926}, {99265000, 9927}, {279085000, 27909}, {-5000, -1}, {0, 0}} {
		if got := Round(tt.ns, 1e6, 2); got != tt.want {
			t.Errorf("%d: %d, want %d", tt.ns, got, tt.want)
		}
	}
}
