package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestExactIsSaidWhenItIsKnown: an answer is called exact only when all its rows are known, and
// what limits it comes first where that is possible still.
func TestExactIsSaidWhenItIsKnown(t *testing.T) {
	const short, long = 3, 20_000 // rows: the latter do not fit into the buffer
	for _, c := range []struct {
		name  string
		rows  int
		limit string
		first string // line of text
		last  string
	}{
		{"short", short, "", "# a: exact", "7"},
		{"short, limited", short, "half", "# a: half", "7"},
		{"long", long, "", "N", "# a: exact"},
		{"long, limited", long, "half", "N", "# a: half"},
	} {
		for _, format := range Formats {
			out, side := say(t, format, c.rows, c.limit)
			if exact := strings.Contains(out+side, "exact"); exact != (c.limit == "") || strings.Count(out+side, "exact")+strings.Count(out+side, "half") != 1 {
				t.Errorf("%s, %s: %.200s … %s", c.name, format, out, side)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if format == "text" && (lines[0] != c.first || strings.TrimSpace(lines[len(lines)-1]) != c.last || strings.Count(out, "7\n") != c.rows) {
				t.Errorf("%s: begins %q, ends %q", c.name, lines[0], lines[len(lines)-1])
			}
			if format == "json" && !json.Valid([]byte(out)) {
				t.Errorf("%s: not JSON: %.200s", c.name, out)
			}
		}
	}
}

// say makes an answer with one column of numbers, whose limit is found at its end.
func say(t *testing.T, format string, rows int, limit string) (out, side string) {
	t.Helper()
	var b, s bytes.Buffer
	o, err := NewOutput(format, Bpftrace, &b, &s)
	if err != nil {
		t.Fatal(err)
	}
	a := o.Answer("a")
	a.Begin(nil)
	a.Exact("exact")
	tab := ListOf(a.Table, Spec{Name: "n"}, number("n").Text("N", 8))
	for range rows {
		tab.Line(7)
	}
	if limit != "" {
		a.Limit(limit)
	}
	a.End()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), s.String()
}
