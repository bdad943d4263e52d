package rig

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCrowd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loadavg")
	for text, want := range map[string]float64{"0.50 1.00 2.00 1/100 7": 1, "6.00 1.00 1.00 9/100 7": 3, "900.00 1 1 1/1 1": 20, "": 1, "x": 1} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := crowd(loadOf(path), 2); got != want {
			t.Errorf("%q: %v programs for each CPU, want %v", text, got, want)
		}
	}
}
