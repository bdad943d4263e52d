package record

import "testing"

func TestStackWithoutProbe(t *testing.T) {
	for stack, want := range map[string]string{
		"entry+0x1;tcp_v4_rcv+0x10;bpf_trace_run2+0x8;bpf_prog_01_skb_drop_tp+0x4": "entry+0x1;tcp_v4_rcv+0x10",
		"entry+0x1;tcp_v4_rcv+0x10":   "entry+0x1;tcp_v4_rcv+0x10",
		"bpf_prog_01_skb_drop_tp+0x4": "bpf_prog_01_skb_drop_tp+0x4",
		"":                            "",
	} {
		if got := withoutProbe(stack); got != want {
			t.Errorf("%q: %q, want %q", stack, got, want)
		}
	}
}
