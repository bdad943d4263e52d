package bpf

import (
	"debug/elf"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// objects are the compiled probes of all processors, whichever this machine has.
func objects(t *testing.T) map[string]*ebpf.CollectionSpec {
	t.Helper()
	specs := map[string]*ebpf.CollectionSpec{}
	for _, name := range []string{"netrec_x86.o", "netrec_arm64.o"} {
		spec, err := ebpf.LoadCollectionSpec(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		specs[name] = spec
	}
	return specs
}

// A recording must mean the same wherever it was made: the objects may differ in how
// registers are reached, not in what is hooked, kept or sent.
func TestObjectsAreAlike(t *testing.T) {
	specs := objects(t)
	x86, arm := specs["netrec_x86.o"], specs["netrec_arm64.o"]
	if len(x86.Programs) < 100 || len(x86.Maps) < 10 {
		t.Fatalf("%d programs and %d maps for x86: the test looks at the wrong thing", len(x86.Programs), len(x86.Maps))
	}
	for name, p := range x86.Programs {
		q := arm.Programs[name]
		if q == nil {
			t.Errorf("program %s: not for arm64", name)
			continue
		}
		if p.Type != q.Type || p.AttachType != q.AttachType || p.AttachTo != q.AttachTo || p.SectionName != q.SectionName {
			t.Errorf("program %s: %v at %s for x86, %v at %s for arm64", name, p.Type, p.SectionName, q.Type, q.SectionName)
		}
	}
	for name, m := range x86.Maps {
		n := arm.Maps[name]
		if n == nil || m.Type != n.Type || m.KeySize != n.KeySize || m.MaxEntries != n.MaxEntries {
			t.Errorf("map %s: %v for x86, %v for arm64", name, m, n)
		} else if m.ValueSize != n.ValueSize {
			t.Errorf("map %s: values of %d bytes for x86, of %d for arm64", name, m.ValueSize, n.ValueSize)
		}
	}
	for name := range x86.Variables {
		if arm.Variables[name] == nil {
			t.Errorf("constant %s: not for arm64", name)
		}
	}
	if len(arm.Programs) != len(x86.Programs) || len(arm.Maps) != len(x86.Maps) || len(arm.Variables) != len(x86.Variables) {
		t.Errorf("%d programs, %d maps, %d constants for x86; %d, %d, %d for arm64", len(x86.Programs), len(x86.Maps), len(x86.Variables),
			len(arm.Programs), len(arm.Maps), len(arm.Variables))
	}
}

// Registers of the wrong processor would be read without a complaint where the kernel
// happens to have a structure of that name.
func TestRegistersAreTheProcessors(t *testing.T) {
	names := map[string][2]string{ // those it must have, those it must not
		"netrec_x86.o":   {"orig_ax", "orig_x0"},
		"netrec_arm64.o": {"orig_x0", "orig_ax"},
	}
	for object, want := range names {
		f, err := elf.Open(object)
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != elf.EM_BPF {
			t.Errorf("%s is for %v", object, f.Machine)
		}
		b, err := f.Section(".BTF").Data()
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if has := strings.Contains(string(b), want[0]+"\x00"); !has {
			t.Errorf("%s: reads no register %s", object, want[0])
		}
		if has := strings.Contains(string(b), want[1]+"\x00"); has {
			t.Errorf("%s: reads register %s of another processor", object, want[1])
		}
	}
}

// The loader leaves the mark of a per-CPU preemption count where no such variable is; a
// kernel would refuse it.
func TestPreemptionCountOfTheTask(t *testing.T) {
	const mark = 0x6e65747265637063 // see compat.h
	marks := map[string]int{}
	for object, spec := range objects(t) {
		for _, p := range spec.Programs {
			for _, ins := range p.Instructions {
				if ins.OpCode == asm.LoadImmOp(asm.DWord) && ins.Constant == mark {
					marks[object]++
				}
			}
		}
	}
	if marks["netrec_x86.o"] == 0 || marks["netrec_arm64.o"] != 0 {
		t.Errorf("marks in the objects: %v; want some for x86, none for arm64", marks)
	}
}

// What is embedded is the object for the processor that the program is built for.
func TestEmbedded(t *testing.T) {
	name, sum := Object()
	b, err := os.ReadFile(name)
	if err != nil || string(b) != string(object) || len(sum) != 64 {
		t.Errorf("embedded is %s with sum %q, not the file: %v", name, sum, err)
	}
}
