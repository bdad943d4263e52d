package record

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The start used most of the program once; what is given back is no longer resident, and the program
// goes on.
func TestLean(t *testing.T) {
	if pages, err := programPages(); err != nil || len(pages) < 2 { // code and constants
		t.Fatalf("the program's pages: %v, %v", pages, err)
	}
	before := ofFiles(t)
	lean()
	if after := ofFiles(t); after > before*9/10 {
		t.Errorf("%d KiB of files are resident, %d before", after, before)
	}
}

// ofFiles is how much of this process's resident memory are pages of files, in KiB.
func ofFiles(t *testing.T) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "RssFile:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
