package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

const interopDir = "../../testdata/interop/"

// readers are the programs that a capture is compared in.
var readers = []string{"duckdb", "pyarrow", "pandas"}

// needPython looks for the interpreter that has the readers. make test provides one;
// an interpreter that was named but does not work is a failure.
func needPython(t *testing.T) {
	t.Helper()
	p := os.Getenv("NETREC_PYTHON")
	if p == "" {
		t.Skip("NETREC_PYTHON is not set: captures are not compared with DuckDB, pyarrow and pandas; make test does it")
	}
	if out, err := exec.Command(p, "-c", "import "+strings.Join(readers, ", ")).CombinedOutput(); err != nil {
		t.Fatalf("NETREC_PYTHON=%s: %v\n%s", p, err, out)
	}
}

// table is what a reader printed: NULL is nil.
type table struct {
	columns []string
	rows    [][]*string
}

// read runs testdata/interop/read.py. It reports false where the reader refuses the file.
func read(t *testing.T, args ...string) (table, bool) {
	t.Helper()
	cmd := exec.Command(os.Getenv("NETREC_PYTHON"), append([]string{interopDir + "read.py"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() == 3 {
		t.Logf("%s: %s", args[0], strings.TrimSpace(errs.String()))
		return table{}, false
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	var tab table
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if first {
			must(t, json.Unmarshal(lines.Bytes(), &tab.columns))
			continue
		}
		var row []*string
		must(t, json.Unmarshal(lines.Bytes(), &row))
		tab.rows = append(tab.rows, row)
	}
	must(t, lines.Err())
	return tab, true
}

// scanned is every value of a capture as analyze reads it, in the form of read.
func scanned(t *testing.T, path string) table {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	var tab table
	for _, c := range schema.Columns {
		tab.columns = append(tab.columns, c.Name)
	}
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		row := make([]*string, len(schema.Columns))
		for i, c := range schema.Columns {
			var s string
			switch col := scan.Col(i); {
			case !r.Has(col):
				continue
			case c.Type == schema.String:
				s = r.Str(col)
			case c.Type == schema.Uint64:
				s = strconv.FormatUint(r.Uint(col), 10)
			default:
				s = strconv.FormatInt(r.Int(col), 10)
			}
			row[i] = &s
		}
		tab.rows = append(tab.rows, row)
		return nil
	}))
	return tab
}

// same compares the first n rows, value by value.
func same(t *testing.T, got, want table, n int) {
	t.Helper()
	if !slices.Equal(got.columns, want.columns) {
		t.Fatalf("columns %q, want %q", got.columns, want.columns)
	}
	if len(got.rows) != n || len(want.rows) < n {
		t.Fatalf("%d rows, want the first %d of %d", len(got.rows), n, len(want.rows))
	}
	bad := 0
	for i := range n {
		for j, name := range want.columns {
			if g, w := show(got.rows[i][j]), show(want.rows[i][j]); g != w {
				if bad++; bad < 10 {
					t.Errorf("row %d, %s: %s, want %s", i, name, g, w)
				}
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d values differ", bad)
	}
}

func show(s *string) string {
	if s == nil {
		return "NULL"
	}
	return strconv.Quote(*s)
}

// TestReadersAgree compares every value of every column of a capture in all its
// states with what analyze reads.
func TestReadersAgree(t *testing.T) {
	needPython(t)
	c := writeOddCapture(t)
	all := scanned(t, c.finished)
	if n := c.rows[oddCommits-1]; len(all.rows) != n {
		t.Fatalf("analyze reads %d rows of %d", len(all.rows), n)
	}
	same(t, scanned(t, c.running), all, c.rows[oddCommits-1])
	same(t, scanned(t, c.cut), all, c.rows[oddCommits-2])
	for _, reader := range readers {
		t.Run(reader, func(t *testing.T) {
			got, ok := read(t, reader, c.finished)
			if !ok {
				t.Fatal("refuses the finished file")
			}
			same(t, got, all, len(all.rows))
			if got, ok = read(t, reader, c.running); !ok {
				t.Fatal("refuses the file of a recording that runs or was killed")
			}
			if commits := slices.Index(c.rows, len(got.rows)) + 1; commits == 0 || commits == oddCommits {
				t.Errorf("%d rows of the running file; commits end after %v, and the last has no footer", len(got.rows), c.rows)
			}
			same(t, got, all, len(got.rows))
			if got, ok = read(t, reader, c.cut); ok {
				t.Errorf("reads %d rows of a file that ends inside a commit", len(got.rows))
			}
		})
	}
}
