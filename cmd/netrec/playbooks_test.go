package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPlaybooks walks through every playbook: each block of sh runs, and prints what the page shows.
func TestPlaybooks(t *testing.T) {
	pages, err := filepath.Glob("../../docs/playbooks/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d playbooks, %v", len(pages), err)
	}
	bin := asNetrec(t)
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			must(t, err)
			work := t.TempDir()
			var printed []string
			for _, block := range snippet.FindAllString(string(text), -1) {
				printed = append(printed, shell(t, bin, work, fenced.FindStringSubmatch(block)[1]))
			}
			comparePage(t, page, string(text), printed)
		})
	}
}

var fenced = regexp.MustCompile("(?s)^```sh\n(.*?)```\n")

// shell runs commands in a folder as a user would type them, without the blanks that end lines.
func shell(t *testing.T, bin, dir, commands string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TZ=UTC")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", commands, err)
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
