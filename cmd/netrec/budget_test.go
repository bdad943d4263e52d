package main

import (
	"testing"

	"netrec/schema"
)

// A budget is a part of the CPU time; what it may thin is a share from the start.
func TestBudgetFlag(t *testing.T) {
	for word, want := range map[string]float64{"2%": 0.02, "0.5%": 0.005, " 12.5 %": 0.125, "": 0} {
		f := recordFlags{budget: word}
		must(t, f.limit())
		if f.opt.Budget != want || (f.opt.Share != nil) != (want > 0) {
			t.Errorf("--budget %q: %v, share %v", word, f.opt.Budget, f.opt.Share)
		}
	}
	f := recordFlags{budget: "2%"}
	f.opt.Share = &schema.DefaultShare
	must(t, f.limit())
	if f.opt.Share != &schema.DefaultShare {
		t.Errorf("share %v instead of that of the profile", f.opt.Share)
	}
	for _, wrong := range []string{"2", "0%", "100%", "-1%", "NaN%", "much"} {
		if f := (recordFlags{budget: wrong}); f.limit() == nil {
			t.Errorf("--budget %s is accepted", wrong)
		}
	}
}
