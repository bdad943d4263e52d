package schema

import (
	"slices"
	"strings"
	"testing"
)

// What follows from columns need not be declared, and what is declared fits them.
func TestRoles(t *testing.T) {
	for i := range Events {
		e := &Events[i]
		has := func(column string) bool { return slices.Contains(Columns[ColumnIndex(column)].Events, e.Name) }
		if has("lport") != (e.Says == SaysEnds) && !e.Stranger && e.Says <= SaysEnds {
			t.Errorf("event %s: says %d, has ends: %v", e.Name, e.Says, has("lport"))
		}
		if has("fd") && e.Descriptor == NoDescriptor {
			t.Errorf("event %s has the column fd, and no descriptor", e.Name)
		}
		if e.Descriptor >= OpensDescriptor && e.Descriptor < EndsFile && !has("pid") && !Columns[ColumnIndex("pid")].Required {
			t.Errorf("event %s: whose descriptor?", e.Name)
		}
		if e.AskedBy != "" && (e.Profile != Asked || !strings.HasPrefix(e.AskedBy, "--")) {
			t.Errorf("event %s is of profile %s and asked for by %q", e.Name, e.Profile, e.AskedBy)
		}
		if e.Profile == Asked && e.AskedBy == "" {
			t.Errorf("event %s is in no profile, and no option asks for it", e.Name)
		}
	}
}
