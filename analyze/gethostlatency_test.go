package analyze

import (
	"math"
	"testing"
)

// TestLookupResult: a file may hold any number where getaddrinfo returned one of its errors.
func TestLookupResult(t *testing.T) {
	for ret, want := range map[int64]string{-2: "EAI_NONAME", -12: "EAI_OVERFLOW", -13: "-13", 7: "7", 0: "not found", math.MinInt64: "-9223372036854775808", math.MaxInt64: "9223372036854775807"} {
		if got := lookupResult(ret, "", true); got != want {
			t.Errorf("%d is %s, want %s", ret, got, want)
		}
	}
}
