package symbol

import (
	"strings"
	"testing"
)

const withBPF = `ffffffff81000000 T tcp_v4_connect
ffffffff81001000 T tcp_connect
ffffffff81002000 T __inet_stream_connect
ffffffff81003000 T bpf_prog_run
ffffffffc0000000 t module_init	[some]
ffffffffc0010000 t bpf_trampoline_6442496949	[bpf]
ffffffffc0020000 t bpf_prog_0123456789abcdef_tcp_state_tp	[bpf]
`

// What is on a stack only because somebody looks is not shown; functions of the kernel that
// are called alike are.
func TestStacksWithoutTrampolines(t *testing.T) {
	k, err := parseKernel(strings.NewReader(withBPF))
	if err != nil {
		t.Fatal(err)
	}
	s := New(k, nil)
	for _, tt := range []struct {
		name   string
		frames []uint64 // innermost first
		want   string
	}{
		{"a function whose trampoline called it", []uint64{0xffffffff81001010, 0xffffffff810002f0, 0xffffffffc0010050, 0xffffffff81000009, 0xffffffff81002044},
			"__inet_stream_connect+0x44;tcp_v4_connect+0x2f0;tcp_connect+0x10"},
		{"a trampoline that came later", []uint64{0xffffffff81001010, 0xffffffff810002f0, 0xffffffffd0010050, 0xffffffff81000009, 0xffffffff81002044},
			"__inet_stream_connect+0x44;tcp_v4_connect+0x2f0;tcp_connect+0x10"},
		{"in a probe", []uint64{0xffffffffc0020010, 0xffffffffc0010050, 0xffffffff81000009, 0xffffffff81002044},
			"__inet_stream_connect+0x44;tcp_v4_connect+0x9"},
		{"of a probe alone", []uint64{0xffffffffc0020010}, "bpf_prog_0123456789abcdef_tcp_state_tp+0x10"},
		{"the kernel's own", []uint64{0xffffffff81003004, 0xffffffff81002044}, "__inet_stream_connect+0x44;bpf_prog_run+0x4"},
		{"recursion", []uint64{0xffffffff810002f0, 0xffffffff81000200, 0xffffffff81002044},
			"__inet_stream_connect+0x44;tcp_v4_connect+0x200;tcp_v4_connect+0x2f0"},
		{"nobody's", []uint64{0xffffffff81001010, 0xffffffffd0000000, 0xffffffff81002044}, "__inet_stream_connect+0x44;0xffffffffd0000000;tcp_connect+0x10"},
	} {
		if got := s.Stack(false, 0, Latest, tt.frames); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	late, err := parseBPF(strings.NewReader(withBPF))
	if err != nil || late.Len() != 2 || late.Find(0xffffffffc0020010) == nil {
		t.Errorf("%d pieces of BPF, %v", late.Len(), err)
	}
}
