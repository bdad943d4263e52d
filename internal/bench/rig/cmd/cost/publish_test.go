package main

import (
	"bytes"
	"os"
	"testing"
)

// README, help and estimates have the numbers of the page, whoever edited which.
func TestPublished(t *testing.T) {
	t.Chdir("../../../../..")
	files, err := published()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go run ./internal/bench/rig/cmd/cost -publish makes of %s: %v", path, pageFile, err)
		}
	}
}
