package render

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// choice is which tables of an answer are written. A stream of CSV holds one table: the one
// that was asked for, else the main one.
type choice struct {
	tables []*Table // all, in the order in which the analysis described them
	only   string   // the one asked for; "" for those of the format
	main   []string // candidates for the one of csv; none: the first with rows
	single *Table   // the one of csv, once it is known
	csv    bool
	text   bool
}

// Main names the tables of which csv shows the first that has rows.
func (c *choice) Main(names []string) { c.main = names }

// Shows reports whether rows of a table for programs would be written: they may be many.
func (c *choice) Shows(name string) bool { return c.only == name || c.only == "" && !c.text }

func (c *choice) wants(t *Table) bool {
	switch {
	case c.only != "":
		return t.Name == c.only
	case c.text:
		return !t.Data
	case !c.csv:
		return true
	case c.single == nil && (len(c.main) == 0 || slices.Contains(c.main, t.Name)):
		c.single = t
	}
	return c.single == t
}

// others names the tables that csv left out.
func (c *choice) others() string {
	if !c.csv || c.only != "" {
		return ""
	}
	var names []string
	for _, t := range c.tables {
		if t.rows > 0 && t != c.single && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("csv has one table; --table chooses another: %s", strings.Join(names, ", "))
}

// Choose writes one table of each answer; "" for all that the format has. With list, only
// the names of the tables are written.
func (o *Output) Choose(table string, list bool) { o.only, o.list = table, list }

// Unknown says that no answer has the table that was chosen, and which there are.
func (o *Output) Unknown() (names []string, unknown bool) {
	return o.names, o.only != "" && len(o.names) > 0 && !slices.Contains(o.names, o.only)
}

// listWriter names the tables of an answer.
type listWriter struct {
	out   *bufio.Writer
	title string
	from  *choice
}

func (*listWriter) begin(_ *Answer, head *bytes.Buffer, _ []string) {
	fmt.Fprintf(head, "%-16s %-20s %10s %s\n", "ANALYSIS", "TABLE", "ROWS", "COLUMNS")
}

func (*listWriter) table(*Table) {}
func (*listWriter) row(*Table)   {}
func (*listWriter) done(*Table)  {}

func (w *listWriter) end([]string) {
	for _, t := range w.from.tables {
		var columns []string
		for i := range t.columns {
			if !t.columns[i].textOnly {
				columns = append(columns, t.columns[i].Name)
			}
		}
		fmt.Fprintf(w.out, "%-16s %-20s %10d %s\n", w.title, t.Name, t.rows, strings.Join(columns, ","))
	}
}
