package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// prints is what writes to where only a command should.
var prints = regexp.MustCompile(`os\.(Stdout|Stderr)\b|fmt\.Print|"log"|"log/slog"`)

// ownProcesses are where the recorder starts others, which have a standard error of their own.
var ownProcesses = map[string]bool{"record/place/keeper.go": true, "record/priv/launch.go": true}

// TestLibrariesPrintNothing: what the recorder has to tell are values (record.Notice), and answers
// go where the caller says.
func TestLibrariesPrintNothing(t *testing.T) {
	seen := 0
	for _, dir := range []string{"record", "analyze", "schema"} {
		must(t, filepath.WalkDir("../../"+dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			seen++
			src, err := os.ReadFile(path)
			if m := prints.Find(src); m != nil && !ownProcesses[filepath.ToSlash(strings.TrimPrefix(path, "../../"))] {
				t.Errorf("%s has %s", path, m)
			}
			return err
		}))
	}
	if seen < 100 {
		t.Errorf("%d files were read", seen)
	}
}
