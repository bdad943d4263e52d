package truth

import (
	"slices"
	"strings"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

// A kernel that renames a function must fail by its name, whether the event can do without
// that hook or not.
func TestRenamedHooksAreNamed(t *testing.T) {
	meta := &scan.Meta{}
	for _, e := range schema.Events {
		if e.Own() {
			continue
		}
		h := schema.EventHooks{Event: e.Name, State: schema.HookAttached}
		for _, k := range e.Ladder[0] {
			h.Hooks = append(h.Hooks, k.String())
		}
		meta.Hooks = append(meta.Hooks, h)
	}
	c, want := &Capture{Meta: meta}, Expect{Functions: true}
	if errs := checkHooks(c, want); len(errs) != 0 {
		t.Fatalf("nothing was renamed: %v", errs)
	}
	at := func(event string) *schema.EventHooks {
		return &meta.Hooks[slices.IndexFunc(meta.Hooks, func(h schema.EventHooks) bool { return h.Event == event })]
	}
	h := at("udp_gone")
	h.Hooks = slices.DeleteFunc(h.Hooks, func(s string) bool { return strings.Contains(s, "udpv6_destroy_sock") })
	h = at("tcp_syn_arrive")
	h.State, h.Hooks = schema.HookMissing, nil
	h.Refused = []schema.Refusal{{Hook: "fentry:tcp_conn_request", Why: "not a function in this kernel's BTF"}}
	errs := checkHooks(c, want)
	if len(errs) != 2 || !strings.Contains(strings.Join(errs, "\n"), "fentry:udpv6_destroy_sock") ||
		!strings.Contains(strings.Join(errs, "\n"), "fentry:tcp_conn_request: not a function") {
		t.Errorf("got %q", errs)
	}
	want.Absent = []string{"fentry:udpv6_destroy_sock"}
	want.Missing = []string{"tcp_syn_arrive"}
	if errs := checkHooks(c, want); len(errs) != 0 {
		t.Errorf("what a kernel does not have is no failure: %v", errs)
	}
}
