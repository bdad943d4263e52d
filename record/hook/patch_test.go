package hook

import (
	"testing"

	"github.com/cilium/ebpf/asm"

	"netrec/bpf"
)

// Kernels before 5.12 refuse a program that holds a fetch-and-add anywhere, so none may
// be left, and what replaces the pair must load the counter.
func TestPatchForOldKernels(t *testing.T) {
	spec, err := bpf.Spec()
	if err != nil {
		t.Fatal(err)
	}
	patch(spec, 7, false)
	adds := 0
	for name, p := range spec.Programs {
		for i, ins := range p.Instructions {
			if ins.OpCode.Class() == asm.StXClass && ins.OpCode.Mode() == asm.AtomicMode {
				if ins.OpCode != asm.AddAtomic.OpCode(asm.DWord) || ins.Constant != 0 {
					t.Errorf("program %s: instruction %d: %v is left", name, i, ins)
				}
				adds++
			}
			if ins.OpCode == asm.LoadImmOp(asm.DWord) && ins.Constant == preemptPlaceholder {
				t.Errorf("program %s: instruction %d: placeholder is left", name, i)
			}
		}
	}
	if adds == 0 {
		t.Error("no atomic add found: the test looks at the wrong thing")
	}
}
