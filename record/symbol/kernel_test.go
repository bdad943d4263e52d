package symbol

import (
	"errors"
	"os"
	"strings"
	"testing"
)

const kallsyms = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000100 t tcp_v4_do_rcv
ffffffff81000200 T tcp_v4_rcv
ffffffff81000200 t __alias_of_rcv
ffffffff81000200 W a_weak
ffffffff81000400 t twice
ffffffff81000500 t twice
ffffffff81000600 T last_of_kernel
ffffffff82000000 D tcp_hashinfo
ffffffffc0000000 t veth_xmit	[veth]
ffffffffc0000100 t semi;colon	[evil]
`

func TestKernel(t *testing.T) {
	k, err := parseKernel(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{
		0xffffffff81000200: "tcp_v4_rcv+0x0",
		0xffffffff8100021a: "tcp_v4_rcv+0x1a",
		0xffffffff810001ff: "tcp_v4_do_rcv+0xff",
		0xffffffffc0000004: "veth_xmit+0x4",
		0xffffffffc0000104: "semi:colon+0x4",
		0xffffffff80ffffff: "0xffffffff80ffffff",
		0xffffffff83000000: "0xffffffff83000000", // data, far behind the last function
		0:                  "0x0",
	} {
		if got := k.Name(addr); got != want {
			t.Errorf("Name(%#x) = %q, want %q", addr, got, want)
		}
	}
	for _, tt := range []struct {
		name   string
		has    bool
		lo, hi uint64
	}{
		{"tcp_v4_rcv", true, 0xffffffff81000200, 0xffffffff81000400},
		{"a_weak", true, 0xffffffff81000200, 0xffffffff81000400},
		{"last_of_kernel", true, 0xffffffff81000600, 0xffffffff81100600},
		{"veth_xmit", true, 0xffffffffc0000000, 0xffffffffc0000100},
		{"twice", true, 0, 0},
		{"tcp_hashinfo", false, 0, 0},
		{"tcp_v4", false, 0, 0},
		{"", false, 0, 0},
	} {
		lo, hi, ok := k.Range(tt.name)
		if k.Has(tt.name) != tt.has || lo != tt.lo || hi != tt.hi || ok != (tt.lo != 0) {
			t.Errorf("%q: has %v, range %#x-%#x %v; want %+v", tt.name, k.Has(tt.name), lo, hi, ok, tt)
		}
	}
}

func TestKernelRefuses(t *testing.T) {
	hidden := "0000000000000000 T _stext\n0000000000000000 t tcp_v4_rcv\n"
	if _, err := parseKernel(strings.NewReader(hidden)); !errors.Is(err, ErrHidden) {
		t.Errorf("hidden addresses: %v", err)
	}
	for _, bad := range []string{"", "nonsense", "ffff T", "xyz T name\n", "ffff TT name\n"} {
		if k, err := parseKernel(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: accepted, %d symbols", bad, k.Len())
		}
	}
}

func TestNoKernel(t *testing.T) {
	var k *Kernel
	if _, _, ok := k.Range("x"); ok || k.Has("x") || k.Len() != 0 || k.Name(0xffff) != "0xffff" {
		t.Error("a nil Kernel knows something")
	}
}

// The kernel the test runs on: every function found by name is found by address.
func TestRunningKernel(t *testing.T) {
	k, err := LoadKernel()
	if errors.Is(err, ErrHidden) && os.Geteuid() != 0 {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if k.Len() < 10_000 {
		t.Errorf("%d functions", k.Len())
	}
	checked := 0
	for _, name := range []string{"tcp_v4_rcv", "tcp_sendmsg", "inet_csk_accept", "tcp_rcv_established"} {
		lo, hi, ok := k.Range(name)
		if !ok {
			continue
		}
		checked++
		if got := k.Name(hi - 1); !strings.HasPrefix(got, name+"+0x") || hi <= lo {
			t.Errorf("%s ends before %#x, where %s is", name, hi, got)
		}
	}
	if checked < 3 {
		t.Errorf("only %d of four TCP functions found", checked)
	}
}

func BenchmarkLoadKernel(b *testing.B) {
	for b.Loop() {
		if _, err := LoadKernel(); err != nil {
			b.Skip(err)
		}
	}
}
