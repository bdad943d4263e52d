package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/analyze/sql"
)

// said runs netrec and returns what it prints on both outputs.
func said(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = run(args, &o, &e)
	return o.String(), e.String(), code
}

// Every query is that of an analysis, is whole in every dialect, and keeps hosts apart if
// there are several.
func TestSQLIsWhole(t *testing.T) {
	if n := len(sql.Names()); n != len(sqlTables) || n < 20 {
		t.Errorf("%d queries, and %d are compared with answers", n, len(sqlTables))
	}
	for _, name := range sql.Names() {
		if a := analyze.Find(name); a == nil || a.Name != name {
			t.Errorf("query %s is of no analysis", name)
		}
		for _, dialect := range sql.Dialects() {
			one, errs, code := said("sql", name, "--dialect", dialect)
			if code != 0 || !strings.HasPrefix(one, "-- ") || !strings.HasSuffix(one, ";\n") || strings.Contains(one, "{{") ||
				strings.Contains(one, "on_host") || strings.Count(one, "cap.parquet") != 1 {
				t.Errorf("%s for %s: exit code %d, %s\n%s", name, dialect, code, errs, one)
			}
			many, errs, code := said("sql", name, "caps/*.parquet", "--dialect", dialect)
			if code != 0 || strings.Count(many, "on_host") < 3 || !strings.Contains(many, "caps/*.parquet") {
				t.Errorf("%s for %s over many: exit code %d, %s\n%s", name, dialect, code, errs, many)
			}
		}
	}
}

func TestSQLPaths(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "caps"), 0o700))
	for _, c := range []struct{ dialect, path, want string }{
		{"duckdb", "it's.parquet", "'it''s.parquet'"},
		{"clickhouse", `it's\.parquet`, `'it\'s\\.parquet'`},
		{"spark", "a`b.parquet", "parquet.`a``b.parquet`"},
		{"duckdb", filepath.Join(dir, "caps"), "caps/dt=*/host=*/*.parquet'"},
		{"spark", filepath.Join(dir, "caps") + "/", "caps/dt=*/host=*/*.parquet`"},
	} {
		if out, errs, _ := said("sql", "tcplife", c.path, "--dialect", c.dialect); !strings.Contains(out, c.want) {
			t.Errorf("%s of %s: want %s in\n%s%s", c.path, c.dialect, c.want, out, errs)
		}
	}
}

func TestSQLMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tcplif"}, "netrec: no analysis \"tcplif\"\nnetrec: hint: did you mean tcplife?\n"},
		{[]string{"sock"}, "netrec: analysis sock is not written in SQL\nnetrec: hint: netrec sql --help lists the analyses that are\n"},
		{[]string{"tcplife", "--dialect", "duckdbb"}, "netrec: no dialect \"duckdbb\"\nnetrec: hint: did you mean duckdb?\n"},
		{[]string{"tcplife", "--dialect", "mysql"}, "netrec: no dialect \"mysql\"\nnetrec: hint: dialects: duckdb, clickhouse, spark\n"},
	} {
		if out, errs, code := said(append([]string{"sql"}, c.args...)...); code != 1 || out != "" || errs != c.says {
			t.Errorf("%v: exit code %d, %q, want %q", c.args, code, errs, c.says)
		}
	}
}
