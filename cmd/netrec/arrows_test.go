package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// The arrows of ARCHITECTURE.md: what a package must not reach, even through others.
var forbidden = map[string][]string{
	"netrec/schema":              {"netrec/record", "netrec/analyze", "netrec/bpf", "netrec/cmd", "github.com/"},
	"netrec/bpf":                 {"netrec/record", "netrec/analyze", "netrec/cmd", "github.com/parquet-go"},
	"netrec/analyze":             {"netrec/internal", "netrec/record", "netrec/bpf", "netrec/cmd", "github.com/cilium/ebpf", "github.com/apache/arrow/go/v15/parquet"},
	"netrec/record":              {"netrec/analyze", "netrec/cmd", "netrec/internal", "github.com/apache/arrow"},
	"netrec/analyze/parquetfile": {"netrec", "github.com/parquet-go", "github.com/apache"},
	"netrec/cmd":                 {"netrec/internal"},
}

// allowed is what one package may reach all the same: names of symbols mean the same to the
// recorder and to analyze, also demangled; and errors have numbers in them.
var allowed = map[string]string{"netrec/schema/objfile": "github.com/ianlancetaylor/demangle", "netrec/analyze/parquetfile": "netrec/analyze/words"}

func TestImportArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "netrec/schema", "netrec/bpf", "netrec/analyze/...",
		"netrec/record/...", "netrec/cmd/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for from, nots := range forbidden {
			if p.ImportPath != from && !strings.HasPrefix(p.ImportPath, from+"/") {
				continue
			}
			seen[from] = true
			for _, dep := range p.Deps {
				for _, not := range nots {
					if dep == allowed[p.ImportPath] {
						continue
					}
					if dep == not || strings.HasPrefix(dep, strings.TrimSuffix(not, "/")+"/") {
						t.Errorf("%s reaches %s", p.ImportPath, dep)
					}
				}
			}
		}
	}
	if len(seen) != len(forbidden) {
		t.Errorf("looked at %v, want all of the arrows", seen)
	}
}
