package findings

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/engine"
	"netrec/schema"
)

// A rule is one file and one golden, and says what it judges by.
func TestRules(t *testing.T) {
	names := []string{}
	for _, r := range Rules {
		names = append(names, r.Name)
		src, err := os.ReadFile(r.Name + ".go")
		if err != nil || !strings.Contains(string(src), `Name: "`+r.Name+`"`) {
			t.Errorf("rule %s has no file of its own: %v", r.Name, err)
		}
		golden, err := os.ReadFile("../../testdata/findings/" + r.Name + ".txtar")
		if err != nil {
			t.Errorf("rule %s has no golden: %v", r.Name, err)
		}
		if n := strings.Count(string(golden), "--threshold "+r.Name+"="); n == 0 || !strings.Contains(string(golden), "\n  threshold "+r.Name+"=") {
			t.Errorf("golden of %s does not find anything, or has no other threshold", r.Name)
		}
		for _, e := range r.Any {
			if schema.ByName(e) == nil {
				t.Errorf("rule %s: no event %s", r.Name, e)
			}
		}
		if v, err := r.Unit.parse(r.Unit.format(r.Default)); err != nil || v != r.Default {
			t.Errorf("rule %s: its threshold reads %g, %v", r.Name, v, err)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("rules are not in the order of their names: %v", names)
	}
}

func TestThresholdMistakes(t *testing.T) {
	for _, tt := range []struct{ given, says, hint string }{
		{"slow-dns", "want slow-dns=100ms", ""},
		{"slow-dns=200", "want a time such as 200ms", ""},
		{"slow-dns=-1s", "want a time", ""},
		{"drops=many", "want a number", ""},
		{"drops=NaN", "want a number", ""},
		{"receive-buffer=0%", "want a share such as 90%", ""},
		{"slow-dsn=1s", `no rule "slow-dsn"`, "did you mean slow-dns?"},
		{"xyzzy=1", `no rule "xyzzy"`, "the rules are accept-wait, "},
	} {
		err := CheckThreshold(tt.given)
		var u *engine.UsageError
		hint := ""
		if errors.As(err, &u) {
			hint = u.Meant
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(hint, tt.hint) {
			t.Errorf("%s: %v (%s), want %s (%s)", tt.given, err, hint, tt.says, tt.hint)
		}
	}
	for _, right := range []string{"slow-dns=1.5s", "receive-buffer=99.9%", "receive-buffer=50", "drops=1"} {
		if err := CheckThreshold(right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
}

// TestOrderIsTotal: findings that look alike have an order, so that an answer is the same every
// time.
func TestOrderIsTotal(t *testing.T) {
	alike := Finding{Level: Bad, Over: 2, At: 5, What: "curl (7) waits"}
	all := []Finding{alike, alike, alike, alike, alike, alike}
	all[1].Sock.Addr = 0xffff888000001000
	all[2].Sock.Serial = 1
	all[3].Evidence = "twice"
	all[4].Next = "sock 0x1"
	all[5].Threshold = "drops=1"
	for i, a := range all {
		for j, b := range all {
			if got := worse(a, b); (got == 0) != (i == j) || got != -worse(b, a) {
				t.Errorf("%d and %d: %d, the other way round %d", i, j, got, worse(b, a))
			}
		}
	}
}
