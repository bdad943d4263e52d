package perfring

import (
	"slices"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{"0": {0}, "0-2": {0, 1, 2}, "0-1,5,7-8": {0, 1, 5, 7, 8}} {
		if got, err := parseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "x", "3-1", "-1", "0-99999999", "1,"} {
		if got, err := parseCPUs(list); err == nil {
			t.Errorf("%q: taken as %v", list, got)
		}
	}
}
