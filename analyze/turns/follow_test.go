package turns_test

import (
	"io"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/turns"
)

// TestSumsOfRecordings: in every recording of the tests each nanosecond of a connection is in one place.
func TestSumsOfRecordings(t *testing.T) {
	conns, ended := 0, 0
	for _, kind := range []string{"analyze", "findings"} {
		files, err := filepath.Glob("../../testdata/" + kind + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("no recordings: %v", err)
		}
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			meta := ""
			for _, f := range ar.Files {
				switch f.Name {
				case "meta":
					meta = string(f.Data)
				case "events":
					src, err := eventtext.Parse(meta, string(f.Data))
					if err != nil {
						t.Fatalf("%s: %v", file, err)
					}
					c, n := sums(t, file, src)
					conns, ended = conns+c, ended+n
				}
			}
		}
	}
	sample := "../../cmd/netrec/sample.parquet"
	f, err := scan.Open(sample, scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, n := sums(t, sample, f)
	conns, ended = conns+c, ended+n
	if t.Logf("%d connections, %d turns", conns, ended); conns < 30 || ended < 5 {
		t.Errorf("%d connections and %d turns are too few to prove anything", conns, ended)
	}
}

// sums checks a recording and says how many connections and turns it has.
func sums(t *testing.T, name string, src scan.Source) (conns, ended int) {
	t.Helper()
	turn := func(_ *turns.Followed, u *turns.Turn) {
		if ended++; u.Split.Total() != u.End-u.Start {
			t.Errorf("%s: turn of %d ns, its split has %d", name, u.End-u.Start, u.Split.Total())
		}
	}
	end := func(c *turns.Followed) {
		if conns++; c.Split.Total() != c.End-c.Start {
			t.Errorf("%s: connection of %d ns, its split has %d", name, c.End-c.Start, c.Split.Total())
		}
		for w, ns := range c.Split {
			if ns < 0 {
				t.Errorf("%s: %d ns of %v", name, ns, turns.Wait(w))
			}
		}
	}
	all := &engine.Analysis{Name: "sums", New: func(in *engine.Input) engine.Fold {
		turns.Follow(in, turn, end)
		in.Always()
		return engine.FoldFunc(func(*render.Answer) {})
	}}
	out, err := render.NewOutput("text", render.Bpftrace, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(src, []engine.Call{{Analysis: all}}, engine.Selection{}, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return conns, ended
}
