package schema

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/columns.md, and add new columns and events to what is promised")

const (
	columnsDoc = "../docs/columns.md"
	promised   = "testdata/format1.txt" // what readers of format 1 may rely on
)

// The documentation of the columns is made from the schema.
func TestColumnsAreDocumented(t *testing.T) {
	old, err := os.ReadFile(columnsDoc)
	if err != nil && !*update {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(old), columnsMark)
	if !ok {
		t.Fatalf("%s: no line %q", columnsDoc, columnsMark)
	}
	want := head + columnsMark + columnTables()
	if *update {
		if err := os.WriteFile(columnsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(old) {
		t.Errorf("%s is not what the schema says: go test ./schema -update", columnsDoc)
	}
}

const columnsMark = "<!-- from here on written by go test ./schema -update -->\n"

func columnTables() string {
	var b strings.Builder
	b.WriteString("\n## In every row\n\n| column | type | unit | |\n|---|---|---|---|\n")
	for _, c := range Columns {
		if c.Required {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Type, c.Unit, cell(c.Doc))
		}
	}
	b.WriteString("\n## In rows of some events\n\nNULL in all others.\n\n| column | type | unit | | events |\n|---|---|---|---|---|\n")
	for _, c := range Columns {
		if !c.Required {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Type, c.Unit, cell(c.Doc), eventsOf(c))
		}
	}
	b.WriteString("\n## Events\n\n| `event` | profile | a row is written when |\n|---|---|---|\n")
	for _, e := range Events {
		profile := string(e.Profile)
		if e.Own() {
			profile = "always"
		}
		if e.Drawn() {
			profile += fmt.Sprintf(" (%d/%d of %s)", DefaultShare.Keep, DefaultShare.Of, e.Thin)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, profile, cell(e.Doc))
	}
	b.WriteString("\n## Values of enums\n\nA number that has no name here is written as that number.\n\n| enum | values |\n|---|---|\n")
	names := make([]string, 0, len(Enums))
	for name := range Enums {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %s |\n", name, enumValues(Enums[name]))
	}
	return b.String()
}

func eventsOf(c Column) string {
	if len(c.Events) == len(Events) {
		return "all"
	}
	return strings.Join(c.Events, " ")
}

func enumValues(e *Enum) string {
	if e.Kernel != "" {
		return fmt.Sprintf("names of the recording kernel's `enum %s`, without `%s`", e.Kernel, e.Trim)
	}
	var names []string
	for _, v := range e.Values {
		names = append(names, "`"+v.Name+"`")
	}
	return strings.Join(names, " ")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// promises are one line for each thing that keeps its name and its meaning.
func promises() []string {
	lines := []string{}
	for _, c := range Columns {
		null := "nullable"
		if c.Required {
			null = "required"
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("column %s %s %s %s", c.Name, c.Type, null, c.Unit)))
	}
	for _, e := range Events {
		lines = append(lines, "event "+e.Name)
	}
	return lines
}

// Within a version of the format nothing that a query may name goes away or changes.
func TestFormatKeepsItsPromise(t *testing.T) {
	b, err := os.ReadFile(promised)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var kept []string
	if len(b) > 0 {
		kept = strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	now := promises()
	for _, line := range kept {
		if !slices.Contains(now, line) {
			t.Errorf("format %d promises %q: a change needs another version of the format", FormatVersion, line)
		}
	}
	for _, line := range now {
		if slices.Contains(kept, line) {
			continue
		}
		if !*update {
			t.Errorf("%q is not among what is promised: go test ./schema -update", line)
		}
		kept = append(kept, line)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(promised, []byte(strings.Join(kept, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) < 200 {
		t.Errorf("%d promises: the test looks at the wrong thing", len(kept))
	}
}
