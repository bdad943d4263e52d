package bpf

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"netrec/schema"
)

func mustSpec(t *testing.T) *ebpf.CollectionSpec {
	t.Helper()
	spec, err := Spec()
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// The object's BTF says where the compiler put each field; Go must agree, or rows
// would be read at the wrong places.
func TestLayoutsMatch(t *testing.T) {
	layout := mustSpec(t).Maps["layout"].Value.(*btf.Union)
	inObject := map[string]*btf.Struct{}
	for _, m := range layout.Members {
		inObject[m.Name] = m.Type.(*btf.Struct)
	}
	for i := range schema.Events {
		e := &schema.Events[i]
		if e.Own() {
			continue
		}
		st := inObject[e.Name]
		if st == nil {
			t.Errorf("event %s: not in the object's BTF", e.Name)
			continue
		}
		if int(st.Size) != e.Size() {
			t.Errorf("event %s: %d bytes in C, %d in Go", e.Name, st.Size, e.Size())
		}
		offsets := map[string]int{}
		flatten(st, 0, offsets)
		for _, f := range e.Fields() {
			if f.As == schema.AsMicros {
				continue // made from ts_ns
			}
			name := schema.Columns[f.Column].Name
			if off, ok := offsets[name]; !ok || off != f.Offset {
				t.Errorf("event %s: field %s at %d in C, %d in Go", e.Name, name, off, f.Offset)
			}
		}
	}
}

func flatten(st *btf.Struct, base int, out map[string]int) {
	for _, m := range st.Members {
		off := base + int(m.Offset.Bytes())
		if inner, ok := m.Type.(*btf.Struct); ok {
			flatten(inner, off, out)
			continue
		}
		out[m.Name] = off
	}
}

// Every hook is a program of the right type for the right place, and every
// program belongs to exactly one event.
func TestProgramsAndHooks(t *testing.T) {
	spec := mustSpec(t)
	types := map[schema.Kind]struct {
		prog   ebpf.ProgramType
		attach ebpf.AttachType
	}{
		schema.RawTP: {ebpf.Tracing, ebpf.AttachTraceRawTp}, schema.Fentry: {ebpf.Tracing, ebpf.AttachTraceFEntry},
		schema.Fexit: {ebpf.Tracing, ebpf.AttachTraceFExit}, schema.Syscall: {ebpf.TracePoint, ebpf.AttachNone},
		schema.Kprobe: {ebpf.Kprobe, ebpf.AttachNone}, schema.Kretprobe: {ebpf.Kprobe, ebpf.AttachNone},
		schema.Perf:        {ebpf.PerfEvent, ebpf.AttachNone},
		schema.KprobeMulti: {ebpf.Kprobe, ebpf.AttachTraceKprobeMulti}, schema.PlainTP: {ebpf.RawTracepoint, ebpf.AttachNone},
		schema.Uprobe: {ebpf.Kprobe, ebpf.AttachNone}, schema.Uretprobe: {ebpf.Kprobe, ebpf.AttachNone},
	}
	owner := map[string]string{}
	for _, e := range schema.Events {
		for _, rung := range e.Ladder {
			for _, h := range rung {
				p := spec.Programs[h.Prog]
				if p == nil {
					t.Errorf("event %s: hook %s: no program %s", e.Name, h, h.Prog)
					continue
				}
				if want := types[h.Kind]; p.Type != want.prog || (want.attach != ebpf.AttachNone && p.AttachType != want.attach) {
					t.Errorf("event %s: program %s is %v/%v, its hook is %s", e.Name, h.Prog, p.Type, p.AttachType, h)
				}
				if h.Kind != schema.Perf && h.Target != schema.AnyTarget && !strings.Contains(h.Target, ":") && !strings.HasSuffix(p.AttachTo, h.Target) {
					t.Errorf("event %s: program %s is for %q, its hook for %q", e.Name, h.Prog, p.AttachTo, h.Target)
				}
				if o, ok := owner[h.Prog]; ok && o != e.Name {
					t.Errorf("program %s belongs to %s and %s", h.Prog, o, e.Name)
				}
				owner[h.Prog] = e.Name
			}
		}
	}
	for _, j := range schema.Joints() {
		for _, h := range j.Parts {
			if first := j.Parts[0]; h.Kind != schema.RawTP || h.Args != first.Args || h.Optional || h.Again || h.Detail {
				t.Errorf("%s: %s and %s are not of one kind", j.Prog, first.Prog, h.Prog)
			}
		}
		owner[j.Prog] = "several"
	}
	for name := range spec.Programs {
		if owner[name] == "" {
			t.Errorf("program %s belongs to no event", name)
		}
	}
}

// Adding an event touches package schema and one file here; nothing else names it.
func TestOneFilePerEvent(t *testing.T) {
	files, err := filepath.Glob("*.bpf.c")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, f := range files {
		got = append(got, strings.TrimSuffix(f, ".bpf.c"))
	}
	for _, e := range schema.Events {
		if !e.Own() {
			want = append(want, e.Name)
		}
	}
	if !sameSet(got, want) {
		t.Errorf("files %v, events %v", got, want)
	}
}

func sameSet(a, b []string) bool {
	set := func(ss []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range ss {
			m[s] = true
		}
		return m
	}
	return reflect.DeepEqual(set(a), set(b))
}

// Unless a probe hands out something new, maps must not grow with what happens on
// the host: per-thread calls and per-CPU state only.
func TestMapsAreBounded(t *testing.T) {
	known := map[string]bool{"rings": true, "counters": true, "calls": true, "layout": true, "marks": true, "preempt_at": true,
		"irq_starts": true, "dequeues": true, // a fixed number of slots per CPU
		"thread_marks": true, "entered": true, // a fixed number of slots that threads share
		"lookups": true, "blank_lookup": true, // threads that look names up at a time, at most 4096
		"known_stacks":  true,                      // a fixed number of slots that stacks share
		"stack_budgets": true,                      // a fixed number of kinds per CPU
		"qdisc_kinds":   true,                      // kinds of queueing disciplines that the kernel has
		"counts":        true, "count_slots": true, // functions and tracepoints that the user named, bounded by the loader
		".rodata": true, ".bss": true}
	for name := range mustSpec(t).Maps {
		if !known[name] {
			t.Errorf("map %s: say here why it cannot grow with the number of sockets or packets", name)
		}
	}
}

// Users build without a compiler for BPF, so what they get must be what the sources say.
func TestGeneratedHeaderIsCurrent(t *testing.T) {
	b, err := os.ReadFile("events.gen.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range schema.Events {
		if !e.Own() && !strings.Contains(string(b), "struct "+e.Name+" {") {
			t.Errorf("events.gen.h has no struct %s; run go generate ./bpf", e.Name)
		}
	}
}

// A bool as an argument would take its register's upper bytes for true; see is_true.
func TestNoBoolArguments(t *testing.T) {
	files, err := filepath.Glob("*.bpf.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	header := regexp.MustCompile(`BPF_(?:PROG|KPROBE|KRETPROBE)\(([^)]*)\)`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range header.FindAllStringSubmatch(string(text), -1) {
			if regexp.MustCompile(`\bbool \w`).MatchString(m[1]) {
				t.Errorf("%s: a program takes a bool: %s", name, m[1])
			}
		}
	}
}
