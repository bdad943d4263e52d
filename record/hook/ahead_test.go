package hook

import (
	"slices"
	"testing"

	"netrec/schema"
)

// Hooks come in the order of the profiles, and in a rung those at the end of a call first:
// a start that is noted while nothing sees the end would be taken for that of a later call.
func TestOrderOfAttaching(t *testing.T) {
	full, light, asked := &schema.Event{Name: "a", Profile: schema.Full}, &schema.Event{Name: "b", Profile: schema.Light}, &schema.Event{Name: "c", Profile: schema.Asked}
	if got := inOrder([]*schema.Event{asked, full, light}); !slices.Equal(got, []*schema.Event{light, full, asked}) {
		t.Errorf("order %s %s %s, want b a c", got[0].Name, got[1].Name, got[2].Name)
	}
	enter, exit := schema.Hook{Kind: schema.Syscall, Target: "sys_enter_read"}, schema.Hook{Kind: schema.Syscall, Target: "sys_exit_read"}
	first, again := schema.Hook{Kind: schema.RawTP, Target: "x"}, schema.Hook{Kind: schema.RawTP, Target: "x", Again: true}
	hooks := []schema.Hook{enter, exit, first, again}
	sorted := endsFirst(hooks)
	if !slices.Equal(sorted, []schema.Hook{exit, enter, first, again}) {
		t.Errorf("attached in the order %v", sorted)
	}
	var p Plan
	if got := p.sorted(hooks, []schema.Hook{exit, enter, again}, []int64{3, 5, 7}); !slices.Equal(got, []schema.Hook{enter, exit, again}) || !slices.Equal(p.Came, []int64{5, 3, 7}) {
		t.Errorf("plan has %v, which came at %v", got, p.Came)
	}
}
