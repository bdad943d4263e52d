package bpf

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// A function that needs 64 bytes of stack or more, in steps of 16, gets one that the tasks
// of a CPU share, from Linux 6.13 on. Where tasks take turns within a probe of a library,
// which from 7.0 on they do, one task then goes on with another's numbers: rows were wrong
// or missing without a count, and with eight processes the kernel fell over a pointer.
const (
	sharedStack = 64
	stackStep   = 16
)

// TestStacks holds the functions that run for probes of libraries below that.
func TestStacks(t *testing.T) {
	for machine, spec := range objects(t) {
		programs, used := 0, 0
		for name, p := range spec.Programs {
			if !strings.HasPrefix(p.SectionName, "uprobe") && !strings.HasPrefix(p.SectionName, "uretprobe") {
				continue
			}
			programs++
			for function, depth := range stackDepths(p) {
				used += depth
				if (depth+stackStep-1)/stackStep*stackStep >= sharedStack {
					t.Errorf("%s: %s of %s needs %d bytes of stack", machine, function, name, depth)
				}
			}
		}
		if programs == 0 || used == 0 {
			t.Errorf("%s: %d programs for libraries with %d bytes of stack", machine, programs, used)
		}
	}
}

// stackDepths is how far below its frame each function of a program reaches, by what it
// loads, stores and takes the address of.
func stackDepths(p *ebpf.ProgramSpec) map[string]int {
	depths := map[string]int{}
	function := p.Name
	var copies [asm.R10 + 1]bool // registers that hold the frame's address
	for _, ins := range p.Instructions {
		if s := ins.Symbol(); s != "" {
			function, copies = s, [asm.R10 + 1]bool{}
		}
		class := ins.OpCode.Class()
		reach := 0
		switch {
		case class.IsLoad() && ins.Src == asm.R10 || class.IsStore() && ins.Dst == asm.R10:
			reach = -int(ins.Offset)
		case class.IsALU() && ins.OpCode.ALUOp() == asm.Mov:
			copies[ins.Dst] = ins.OpCode.Source() == asm.RegSource && ins.Src == asm.R10
		case class.IsALU() && ins.OpCode.ALUOp() == asm.Add && copies[ins.Dst]:
			reach = -int(ins.Constant)
			copies[ins.Dst] = false
		}
		depths[function] = max(depths[function], reach)
	}
	return depths
}
