package schema

import "testing"

func TestReasons(t *testing.T) {
	refused, none := "refused by this kernel", "this kernel has no kprobes"
	for _, tt := range []struct {
		refused []Refusal
		want    string
	}{
		{nil, "no reason given"},
		{[]Refusal{{Hook: "raw_tp:qdisc_drop", Why: "not in BTF"}}, "raw_tp:qdisc_drop: not in BTF"},
		{[]Refusal{{Hook: "fexit:a", Why: refused}, {Hook: "kprobe:a", Why: none}, {Hook: "kretprobe:a", Why: none}},
			"fexit:a: refused by this kernel; kprobe:a: this kernel has no kprobes"},
		{[]Refusal{{Hook: "fexit:a", Why: refused}, {Hook: "fexit:b", Why: "has 4 arguments", Variant: true},
			{Hook: "kprobe:a", Why: none}, {Hook: "kprobe:b", Why: none}},
			"fexit:a: refused by this kernel; kprobe: this kernel has no kprobes"},
		{[]Refusal{{Hook: "fexit:b", Why: "has 4 arguments", Variant: true}, {Hook: "kprobe:b", Why: none}},
			"fexit:b: has 4 arguments; kprobe:b: this kernel has no kprobes"},
	} {
		if got := Reasons(tt.refused); got != tt.want {
			t.Errorf("Reasons(%v) = %q, want %q", tt.refused, got, tt.want)
		}
	}
}
