package truth

import (
	"slices"
	"strings"

	"netrec/schema"
)

// checkHooks: every event that this kernel owes is attached, by all the hooks of a rung. A
// function that a newer kernel renames is named here, also if rows of the event still come
// by another hook.
func checkHooks(c *Capture, want Expect) Errors {
	var errs Errors
	for _, h := range c.Meta.Hooks {
		if h.State == schema.HookNotAsked && schema.ByName(h.Event).Profile == schema.Asked {
			continue
		}
		missing := slices.Contains(want.Missing, h.Event)
		if (h.State == schema.HookAttached) == missing {
			errs.add("event %s is %s: %s", h.Event, h.State, schema.Reasons(h.Refused))
		}
		if e := schema.ByName(h.Event); e != nil && h.State == schema.HookAttached && want.Functions {
			for _, name := range lacking(e, h.Hooks) {
				if !slices.Contains(want.Absent, name) {
					errs.add("event %s: hook %s is not attached, others of its kind are", h.Event, name)
				}
			}
		}
	}
	return errs
}

// lacking is the hooks of the rung in use that could be left out and were. Hooks that stand
// for many functions are looked at one by one where their rows are.
func lacking(e *schema.Event, attached []string) []string {
	for _, rung := range e.Ladder {
		if slices.ContainsFunc(rung, func(h schema.Hook) bool { return !h.Optional && !slices.Contains(attached, h.String()) }) {
			continue
		}
		var names []string
		for _, h := range rung {
			if _, member, _ := strings.Cut(h.Target, ":"); !slices.Contains(attached, h.String()) && (member == "" || strings.HasPrefix(h.Target, "libc:")) {
				names = append(names, h.String())
			}
		}
		return slices.Compact(names)
	}
	return nil
}
