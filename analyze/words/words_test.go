package words

import (
	"strings"
	"testing"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int64]string{0: "0 rows", 1: "1 row", 1200: "1,200 rows"} {
		if got := Plural(n, "row", "rows"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 rows", 1: "1 row", 1200: "1,200 rows"} {
		if got := Count(n, "row"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("x", 128)
	for name, want := range map[string]string{"": "", "ts_ns": "ts_ns", long: long, long + "y": long + "…"} {
		if got := Clip(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
		if got := Clip([]byte(name)); got != want {
			t.Errorf("%q as bytes is %q, want %q", name, got, want)
		}
	}
}
