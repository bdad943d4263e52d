package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

const interopDir = "../../testdata/interop/"

// readers are the programs that a capture is compared in, with their modules of Python.
// duckdb1 is a DuckDB of the major version before.
var readers = map[string]string{"duckdb": "duckdb", "duckdb1": "duckdb", "pyarrow": "pyarrow", "pandas": "pandas", "polars": "polars",
	"clickhouse": "chdb", "spark": "pyspark"}

// needPython looks for the interpreter that has the readers. make test provides one;
// an interpreter that was named but does not work is a failure.
func needPython(t *testing.T) {
	t.Helper()
	p := os.Getenv("NETREC_PYTHON")
	if p == "" {
		t.Skip("NETREC_PYTHON is not set: captures are not compared with other readers; make test does it")
	}
	modules := strings.Join(slices.Compact(slices.Sorted(maps.Values(readers))), ", ")
	if out, err := exec.Command(p, "-c", "import "+modules).CombinedOutput(); err != nil {
		t.Fatalf("NETREC_PYTHON=%s: %v\n%s", p, err, out)
	}
}

// table is what a reader printed: NULL is nil.
type table struct {
	columns []string
	rows    [][]*string
}

// read runs testdata/interop/read.py. Files that the reader refuses have no columns.
func read(t *testing.T, reader string, files ...string) []table {
	t.Helper()
	cmd := exec.Command(os.Getenv("NETREC_PYTHON"), append([]string{"-B", interopDir + "read.py", reader}, files...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	tables := make([]table, len(files))
	for i, file := range files {
		var head struct {
			Refused string
			Columns []string
			Rows    int
		}
		must(t, dec.Decode(&head))
		if head.Refused != "" {
			t.Logf("%s of %s: %.200s", reader, filepath.Base(file), head.Refused)
		}
		tables[i] = table{head.Columns, make([][]*string, head.Rows)}
		for j := range tables[i].rows {
			must(t, dec.Decode(&tables[i].rows[j]))
		}
	}
	return tables
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
			case !r.HasAt(col):
				continue
			case c.Type == schema.String:
				s = r.Str(scan.StrAt(col))
			case c.Type == schema.Uint64:
				s = strconv.FormatUint(r.Uint(scan.IntAt(col)), 10)
			default:
				s = strconv.FormatInt(r.Int(scan.IntAt(col)), 10)
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
	same(t, scanned(t, c.recovered), all, c.rows[oddCommits-2])
	for reader := range readers {
		t.Run(reader, func(t *testing.T) {
			got := read(t, reader, c.finished, c.running, c.recovered, c.cut)
			same(t, got[0], all, len(all.rows))
			for i, n := range []int{c.rows[oddCommits-1], c.rows[oddCommits-2]} { // no commit is missing
				same(t, got[i+1], all, n)
			}
			if got[3].columns != nil {
				t.Errorf("reads %d rows of a file that ends inside a commit", len(got[3].rows))
			}
		})
	}
}
