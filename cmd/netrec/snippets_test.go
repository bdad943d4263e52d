package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the pages show with what their snippets print now")

// snippet is a block of a page that is run, and the block of text behind it, if there is one.
var snippet = regexp.MustCompile("(?ms)^```(sh|sql|python)\n.*?^```\n(\n```text\n(.*?)^```\n)?")

// TestSnippets runs every snippet of the pages about other programs, and compares what
// they print with what the page shows.
func TestSnippets(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "netrec"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, page := range []string{"duckdb.md", "pandas.md", "notebooks.md"} {
		t.Run(page, func(t *testing.T) {
			path, err := filepath.Abs("../../docs/" + page)
			must(t, err)
			work := t.TempDir()
			printed := runSnippets(t, path, work, dir)
			text, err := os.ReadFile(path)
			must(t, err)
			comparePage(t, path, string(text), printed)
			if page == "pandas.md" {
				picture := filepath.Join(work, "cwnd.png")
				checkPicture(t, picture)
				if *update {
					b, err := os.ReadFile(picture)
					must(t, err)
					must(t, os.WriteFile("../../docs/cwnd.png", b, 0o644))
				}
			}
		})
	}
}

// runSnippets runs the page in a folder, with netrec on the way.
func runSnippets(t *testing.T, page, work, bin string) (printed []string) {
	t.Helper()
	script, err := filepath.Abs(interopDir + "snippets.py")
	must(t, err)
	cmd := exec.Command(os.Getenv("NETREC_PYTHON"), script, page)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TZ=UTC")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	must(t, json.Unmarshal(out, &printed))
	return printed
}

func comparePage(t *testing.T, path, text string, printed []string) {
	t.Helper()
	n := 0
	now := snippet.ReplaceAllStringFunc(text, func(block string) string {
		n++
		got := printed[n-1]
		if !strings.Contains(block, "\n```text\n") {
			if got != "" {
				t.Errorf("prints, and the page does not show it:\n%s\n%s", block, got)
			}
			return block
		}
		m := snippet.FindStringSubmatch(block)
		return strings.TrimSuffix(block, m[2]) + "\n```text\n" + got + "\n```\n"
	})
	if n != len(printed) || n == 0 {
		t.Fatalf("%d snippets found, %d run", n, len(printed))
	}
	if now == text {
		return
	}
	if *update {
		must(t, os.WriteFile(path, []byte(now), 0o644))
		return
	}
	t.Errorf("the snippets print other than the page shows; go test ./cmd/netrec -run TestSnippets -update makes this of it:\n%s", now)
}

// checkPicture looks whether the plot is one, and not empty.
func checkPicture(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	must(t, err)
	colours := map[any]bool{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			colours[img.At(x, y)] = true
		}
	}
	if img.Bounds().Dx() < 400 || len(colours) < 8 {
		t.Errorf("picture of %v with %d colours", img.Bounds(), len(colours))
	}
}
