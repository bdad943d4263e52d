package main

import "testing"

// The section of servers goes where it was, or before all others, and nothing else changes.
func TestCutSection(t *testing.T) {
	const section = "## Busy servers\n\n| a | none |\n\n"
	for _, c := range []struct{ page, before, section, after string }{
		{"# Title\n\ntext\n\n" + section + "## One event\n\nrest\n", "# Title\n\ntext\n\n", section, "## One event\n\nrest\n"},
		{"# Title\n\ntext\n\n## One event\n\nrest\n", "# Title\n\ntext\n\n", "", "## One event\n\nrest\n"},
		{"# Title\n\n" + section, "# Title\n\n", section, ""},
		{"# Title\n", "# Title\n", "", ""},
	} {
		if before, section, after := cutSection(c.page); before != c.before || section != c.section || after != c.after {
			t.Errorf("%q is cut into %q, %q and %q", c.page, before, section, after)
		}
	}
}
