package hook

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
)

// Two things that the probes need cannot be said in relocatable C for all kernels;
// bpf/compat.h leaves marks for them.
const (
	preemptPlaceholder = 0x6e65747265637063
	pseudoBTFID        = asm.R3 // BPF_PSEUDO_BTF_ID: the address of a kernel variable
	fetch              = 1      // BPF_FETCH, in the immediate of an atomic operation
)

// preempt is how the probes find the preemption count, which tells tasks from
// interrupts; see bpf/compat.h. The zero value with offset -1 means not at all.
type preempt struct {
	variable btf.TypeID // of the per-CPU variable
	offset   int32      // of the count in it
	fromRq   int64      // or: distance from the CPU's run queue
}

func (k *kernel) preemptCount() preempt {
	for _, name := range []string{"__preempt_count", "pcpu_hot"} {
		var v *btf.Var
		inBTF := k.types.TypeByName(name, &v) == nil
		_, inSymbols := k.symbols.Variable(name)
		var offset int32
		if name == "pcpu_hot" && inBTF {
			off, err := memberOffset(v.Type, "preempt_count")
			if err != nil {
				continue
			}
			offset = off
		}
		if inBTF && inSymbols {
			if id, err := k.types.TypeID(v); err == nil {
				return preempt{variable: id, offset: offset}
			}
		}
		if d := k.perCPUDistance("runqueues", name); d != 0 {
			return preempt{offset: -1, fromRq: d + int64(offset)}
		}
	}
	return preempt{offset: -1}
}

// perCPUDistance is how far one per-CPU variable lies behind another, by the kernel's
// BTF or, on kernels whose BTF has no variables, by its symbols; 0 if unknown.
func (k *kernel) perCPUDistance(from, to string) int64 {
	var ds *btf.Datasec
	if k.types.TypeByName(".data..percpu", &ds) == nil {
		at := map[string]int64{}
		for _, v := range ds.Vars {
			at[v.Type.TypeName()] = int64(v.Offset)
		}
		a, okA := at[from]
		b, okB := at[to]
		if okA && okB {
			return b - a
		}
	}
	a, okA := k.symbols.Variable(from)
	b, okB := k.symbols.Variable(to)
	if !okA || !okB {
		return 0
	}
	return int64(b - a)
}

func memberOffset(t btf.Type, name string) (int32, error) {
	var members []btf.Member
	switch t := t.(type) {
	case *btf.Struct:
		members = t.Members
	case *btf.Union:
		members = t.Members
	}
	for _, m := range members {
		if m.Name == name {
			return int32(m.Offset.Bytes()), nil
		}
		if m.Name != "" {
			continue
		}
		if off, err := memberOffset(m.Type, name); err == nil {
			return int32(m.Offset.Bytes()) + off, nil
		}
	}
	return 0, fmt.Errorf("no field %s in %s", name, t.TypeName())
}

// patch puts the variable's id in its place and, on kernels before 5.12, replaces
// fetch-and-add followed by += 1 by an atomic add followed by a load.
func patch(spec *ebpf.CollectionSpec, variable btf.TypeID, haveFetch bool) {
	for _, p := range spec.Programs {
		ins := p.Instructions
		for i := range ins {
			switch {
			case ins[i].OpCode == asm.LoadImmOp(asm.DWord) && ins[i].Constant == preemptPlaceholder && variable != 0:
				ins[i].Src, ins[i].Constant = pseudoBTFID, int64(variable)
			case ins[i].OpCode == asm.FetchAdd.OpCode(asm.DWord) && !haveFetch:
				ins[i].OpCode, ins[i].Constant = asm.AddAtomic.OpCode(asm.DWord), 0
				load := asm.LoadMem(ins[i].Src, ins[i].Dst, 0, asm.DWord)
				ins[i+1].OpCode, ins[i+1].Dst, ins[i+1].Src, ins[i+1].Constant = load.OpCode, load.Dst, load.Src, 0
			}
		}
	}
}

// haveFetch tries an atomic fetch-and-add on the stack.
func haveFetch() bool {
	add := asm.FetchAdd.Mem(asm.R10, asm.R2, asm.DWord, -8)
	add.Constant = fetch // cilium/ebpf 0.22 takes the immediate from here, not from the opcode
	return loads(ebpf.SocketFilter,
		asm.Mov.Imm(asm.R2, 1),
		asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord),
		add,
		asm.Mov.Imm(asm.R0, 0),
		asm.Return())
}

// loads reports whether this kernel takes a program.
func loads(typ ebpf.ProgramType, ins ...asm.Instruction) bool {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: typ, License: "GPL", Instructions: ins})
	if err != nil {
		return false
	}
	p.Close()
	return true
}

// haveCast tries to read a field by a number that is cast to a pointer.
func haveCast(types *btf.Spec) bool {
	var cast *btf.Func
	var task *btf.Struct
	if types.TypeByName("bpf_rdonly_cast", &cast) != nil || types.TypeByName("task_struct", &task) != nil {
		return false
	}
	function, err := types.TypeID(cast)
	if err != nil {
		return false
	}
	typ, err := types.TypeID(task)
	if err != nil {
		return false
	}
	return loads(ebpf.TracePoint,
		asm.FnGetCurrentTask.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.Mov.Imm(asm.R2, int32(typ)),
		asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall, Constant: int64(function)},
		asm.LoadMem(asm.R0, asm.R0, 0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return())
}

// tasksMove reports whether a task can be preempted between two programs of a tracepoint. Tracepoints
// switched preemption off until 7.0; nothing but the version tells.
func tasksMove() bool {
	code, err := features.LinuxVersionCode()
	return err != nil || code >= 7<<16
}
