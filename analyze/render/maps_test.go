package render

import (
	"math"
	"strings"
	"testing"
)

func TestLooks(t *testing.T) {
	full := strings.Repeat("@", barWidth)
	tests := []struct {
		name  string
		style Style
		fill  func(*Answer)
		want  string
	}{
		{"hist labels and bars", Bpftrace, func(a *Answer) {
			m := a.Table(HistMap("us", "us"))
			m.Null(1).Int(0).Int(1).End()
			m.Int(0).Int(1).Int(2).End()
			m.Int(512).Int(1024).Int(3).End()
			m.Int(1 << 30).Int(1 << 31).Int(0).End()
			m.Int(1 << 62).Null(1).Int(3).End()
		}, "@us:\n" +
			"(..., 0)               1 |" + strings.Repeat("@", 17) + strings.Repeat(" ", 35) + "|\n" +
			"[0]                    2 |" + strings.Repeat("@", 34) + strings.Repeat(" ", 18) + "|\n" +
			"[512, 1K)              3 |" + full + "|\n" +
			"[1G, 2G)               0 |" + strings.Repeat(" ", 52) + "|\n" +
			"[4E, ...)              3 |" + full + "|\n\n"},
		{"linear buckets", Bpftrace, func(a *Answer) {
			m := a.Table(HistMap("cpu", "", Col("dev", String)))
			m.Str("eth0").Int(3).Int(4).Int(1).End()
			m.Str("eth0").Int(10).Int(20).Int(1).End()
			m.Str("eth1").Int(100).Null(1).Int(1).End()
		}, "@cpu[eth0]:\n[3]                    1 |" + full + "|\n[10, 20)               1 |" + full + "|\n\n" +
			"@cpu[eth1]:\n[100, ...)             1 |" + full + "|\n\n"},
		{"stack keys", Bpftrace, func(a *Answer) {
			m := a.Table(CountMap("s", Col("stack", Stack), Col("comm", String)))
			m.Str("app(1a2b3c4d)+0x1139;main+0x1;write+0x1a;sys\x1b").Str("curl").Int(2).End()
			m.Str("").Str("x").Int(3).End()
		}, "@s[\n    sys\\x1b\n    write+26\n    main+1\n    app(1a2b3c4d)+0x1139\n, curl]: 2\n@s[\n, x]: 3\n\n"},
		{"wide BCC histogram has half the stars", BCC, func(a *Answer) {
			a.Table(HistMap("ns", "nsecs")).Int(1 << 33).Int(1 << 34).Int(5).End()
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
