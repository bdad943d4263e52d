package analyze

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/symbolize"
)

var update = flag.Bool("update", false, "rewrite the goldens with what the analyses say now")

const (
	goldens     = "../testdata/analyze"
	ruleGoldens = "../testdata/findings" // one for each rule
)

// TestGoldens runs every case of every golden. A file holds the sections meta,
// events and args, then text, json, csv … with the wanted output; args after the
// first start another case, and meta and events stay until they are given anew.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob(goldens + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	rules, err := filepath.Glob(ruleGoldens + "/*.txtar")
	if err != nil || len(rules) != len(findings.Rules) {
		t.Errorf("%d goldens for %d rules of findings, %v", len(rules), len(findings.Rules), err)
	}
	for _, file := range append(files, rules...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, ar)
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func golden(t *testing.T, ar *txtar.Archive) {
	var src *eventtext.Source
	var meta, args string
	wanted := 0
	for i := range ar.Files {
		f := &ar.Files[i]
		switch f.Name {
		case "meta":
			meta = string(f.Data)
		case "events":
			s, err := eventtext.Parse(meta, string(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			src = s
		case "args":
			args = strings.TrimSpace(string(f.Data))
		default:
			wanted++
			got := answer(t, src, args, f.Name)
			if *update {
				f.Data = got
			} else if !bytes.Equal(got, f.Data) {
				t.Errorf("%s as %s:\n%s\nwant:\n%s", args, f.Name, got, f.Data)
			}
		}
	}
	if wanted == 0 {
		t.Error("golden without wanted output")
	}
}

// answer is what a call prints: results, and for formats that keep them apart,
// what goes beside them.
func answer(t *testing.T, src scan.Source, args, format string) []byte {
	t.Helper()
	req, err := engine.Parse(All(), Find("overview"), append([]string{"FILE", "--format", format}, strings.Fields(args)...))
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	sel, err := engine.NewSelection(src.Meta(), req.Options)
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	style := render.Bpftrace
	if req.Options["look"] == "bcc" {
		style = render.BCC
	}
	var b, side bytes.Buffer
	out, err := render.NewOutput(format, style, &b, &side)
	if err != nil {
		t.Fatal(err)
	}
	out.Choose(req.Options["table"], req.Options["list-tables"] == "true")
	if req.Options["all"] == "true" {
		out.All()
	}
	var files *symbolize.Files
	if dirs := filepath.SplitList(req.Options["symbols"]); len(dirs) > 0 {
		if files, err = symbolize.Open(dirs); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	outcomes, err := engine.Run(symbolize.New(src, files), req.Calls, sel, out)
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	for _, o := range outcomes {
		if o.Broken != nil {
			t.Errorf("%s: %v", args, o.Broken)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return append(side.Bytes(), b.Bytes()...)
}
