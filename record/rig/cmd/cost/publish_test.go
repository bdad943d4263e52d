package main

import (
	"bytes"
	"os"
	"testing"
)

// README and help have the numbers of the page, whoever edited which.
func TestPublished(t *testing.T) {
	t.Chdir("../../../..")
	page, err := readPage(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := page.intoReadme(readme); err != nil || !bytes.Equal(readme, want) {
		t.Errorf("%s is not what go run ./record/rig/cmd/cost -publish makes of %s: %v", readmeFile, pageFile, err)
	}
	help, err := os.ReadFile(helpFile)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := page.help(); err != nil || !bytes.Equal(help, want) {
		t.Errorf("%s is not what go run ./record/rig/cmd/cost -publish makes of %s: %v", helpFile, pageFile, err)
	}
}
