package hook

import (
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"

	"netrec/bpf"
)

// Names come with compilers' suffixes and modules, and some twice.
func TestMatchingFunctions(t *testing.T) {
	const list = "tcp_probe\ntcp_small_queue_check.isra.0\ntcp_twice\nudp_sendmsg\ntcp_twice\ntcp_in_module [tcp_bbr]\n__tcp_hidden\n"
	for pattern, want := range map[string][]string{
		"tcp_*":           {"tcp_in_module", "tcp_probe", "tcp_small_queue_check.isra.0"},
		"tcp_twice":       nil,
		"*_sendmsg":       {"udp_sendmsg"},
		"tcp_prob[a-f]":   {"tcp_probe"},
		"tcp_prob[":       nil,
		"__tcp_?????n":    {"__tcp_hidden"},
		"nothing_of_this": nil,
	} {
		if got := matching(strings.NewReader(list), []string{pattern}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	if got := matching(strings.NewReader(list), []string{"tcp_probe", "tcp_p*"}); len(got) != 1 {
		t.Errorf("a function that two patterns match: %q", got)
	}
}

// Each program of a tracepoint counts in its own slot, and the one they are made from is
// left as it is.
func TestSlotOfProgram(t *testing.T) {
	spec, err := bpf.Spec()
	if err != nil {
		t.Fatal(err)
	}
	has := func(ins asm.Instructions, constant int64) int {
		n := 0
		for _, i := range ins {
			if i.OpCode == asm.LoadImmOp(asm.DWord) && i.Constant == constant {
				n++
			}
		}
		return n
	}
	base := spec.Programs["tp_count_tp"]
	p := forSlot(base, 77)
	if has(p.Instructions, 77) != 1 || has(p.Instructions, slotPlaceholder) != 0 || has(base.Instructions, slotPlaceholder) != 1 {
		t.Errorf("program has slot 77 %d times, its placeholder %d times; the original %d times",
			has(p.Instructions, 77), has(p.Instructions, slotPlaceholder), has(base.Instructions, slotPlaceholder))
	}
}
