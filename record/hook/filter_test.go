package hook

import (
	"os"
	"testing"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"netrec/bpf"
	kallsyms "netrec/record/symbol"
	"netrec/schema"
)

// always are the functions of a program that needs no other for itself: its own, reroute and filling.
const always = 3

// The verifier removes filters that nobody asked for: of a program that only they give further
// functions, those above are left, and it is smaller than with the cheapest of filters.
func TestUnusedFiltersAreRemoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("loading programs needs root: that unused filters cost nothing is not checked")
	}
	symbols, err := kallsyms.LoadKernel()
	if err != nil {
		t.Fatal(err)
	}
	events := []string{"tcp_state", "dev_recv", "skb_drop"}
	without := loadFirst(t, symbols, events, nil)
	with := loadFirst(t, symbols, events, map[string]any{"cfg_filters": uint32(2), "cfg_port_count": uint32(1), "cfg_port": [8]uint32{443}})
	for _, e := range events {
		if without[e].functions != always || with[e].functions <= always || without[e].bytes >= with[e].bytes {
			t.Errorf("event %s: %+v without filters, %+v with one", e, without[e], with[e])
		}
	}
	t.Logf("without filters %+v, with one %+v", without, with)
}

// loaded is the size of a program after the verifier.
type loaded struct {
	functions int
	bytes     int
}

// prepared is a set whose programs can be loaded; none is attached.
func prepared(t *testing.T, symbols Symbols, filters map[string]any) *Set {
	t.Helper()
	k, err := newKernel(symbols)
	if err != nil {
		t.Fatal(err)
	}
	page := int64(os.Getpagesize())
	s := &Set{kernel: k, conf: Config{CPUs: PossibleCPUs(), Rings: 1, RingBytes: page, RareBytes: page, Symbols: symbols, Filters: filters}}
	spec, err := bpf.Spec()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.prepare(spec); err != nil {
		t.Fatal(err)
	}
	return s
}

// loadFirst loads the first program of each event, and attaches none.
func loadFirst(t *testing.T, symbols Symbols, events []string, filters map[string]any) map[string]loaded {
	t.Helper()
	s := prepared(t, symbols, filters)
	defer s.Release()
	out := map[string]loaded{}
	for _, name := range events {
		prog := s.base.Programs[schema.ByName(name).Ladder[0][0].Prog]
		p, err := s.loadProgram(prog)
		if err != nil {
			t.Fatal(err)
		}
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		lens, _ := info.JitedFuncLens()
		size, err := info.TranslatedSize()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = loaded{len(lens), size}
		p.Close()
	}
	return out
}

// Where numbers can be cast to pointers, probes of system calls read the kernel's structures by plain loads: from
// descriptor to socket and its addresses a dozen calls of a helper are gone. The kernel says what it runs.
func TestCastsReplaceTheHelper(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("loading programs needs root: how probes read is not checked")
	}
	symbols, err := kallsyms.LoadKernel()
	if err != nil {
		t.Fatal(err)
	}
	s, without := prepared(t, symbols, nil), prepared(t, symbols, map[string]any{"cfg_cast": false})
	defer s.Release()
	defer without.Release()
	usual, helper := s.calls(t, "sys_close_enter"), without.calls(t, "sys_close_enter")
	var cast *btf.Func
	if have := s.kernel.types.TypeByName("bpf_rdonly_cast", &cast) == nil; have && usual+12 > helper || !have && usual != helper {
		t.Errorf("%d calls, %d without casts, which this kernel has: %t", usual, helper, have)
	}
}

// calls is how many a program has in the kernel.
func (s *Set) calls(t *testing.T, name string) (n int) {
	t.Helper()
	p, err := s.loadProgram(s.base.Programs[name].Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		t.Fatal(err)
	}
	list, err := info.Instructions()
	if err != nil {
		t.Fatal(err)
	}
	for _, ins := range list {
		if ins.OpCode.JumpOp() == asm.Call {
			n++
		}
	}
	return n
}
