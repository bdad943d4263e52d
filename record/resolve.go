package record

import (
	"slices"
	"strings"
	"sync"

	"netrec/record/host"
	"netrec/record/symbol"
	"netrec/schema"
)

// resolver names what records carry as numbers.
type resolver struct {
	symbols *symbol.Stacks
	enums   map[*schema.Enum]map[int64]string
	groups  host.Cgroups

	mu      sync.Mutex // strings are added while others are read
	strings []string
	refs    map[string]uint32
	free    []uint32 // of strings that were lent and given back
}

func newResolver(st *symbol.Stacks) *resolver {
	return &resolver{symbols: st, enums: map[*schema.Enum]map[int64]string{}, strings: []string{""}, refs: map[string]uint32{"": 0}}
}

// setEnums takes the kernel's own names of its enums.
func (r *resolver) setEnums(kernel map[string]map[string]int64) {
	for name, values := range kernel {
		e := schema.Enums[name]
		byValue := make(map[int64]string, len(values))
		for n, v := range values {
			byValue[v] = strings.TrimPrefix(n, e.Trim)
		}
		r.enums[e] = byValue
	}
}

// Enum is the name of an enum's value: the running kernel's, else the schema's.
func (r *resolver) Enum(e *schema.Enum, v int64) string {
	if s, ok := r.enums[e][v]; ok {
		return s
	}
	return e.Lookup(v)
}

// Ksym is the kernel symbol at an address, "" for none.
func (r *resolver) Ksym(addr uint64) string {
	if addr == 0 {
		return ""
	}
	return r.symbols.Kernel.Name(addr)
}

// Cgroup is the path of a control group.
func (r *resolver) Cgroup(id uint32) string { return r.groups.Path(id) }

// Ref is the string behind a reference.
func (r *resolver) Ref(id uint32) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int(id) < len(r.strings) {
		return r.strings[id]
	}
	return ""
}

// ref stores a string for the life of the recording.
func (r *resolver) ref(s string) uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, ok := r.refs[s]; ok {
		return id
	}
	id := uint32(len(r.strings))
	r.strings = append(r.strings, s)
	r.refs[s] = id
	return id
}

// lend stores a string until it is given back. Facts are written anew into every file
// of a recording, which may have any number.
func (r *resolver) lend(s string) uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		id := r.free[n-1]
		r.free = r.free[:n-1]
		r.strings[id] = s
		return id
	}
	r.strings = append(r.strings, s)
	return uint32(len(r.strings) - 1)
}

// giveBack ends a loan: no row refers to the strings any more.
func (r *resolver) giveBack(ids []uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		r.strings[id] = ""
	}
	r.free = append(r.free, ids...)
}

// probeFrames begin the names of functions between a hook and its program; what is
// on the inner side of them is netrec's own doing, not the kernel's path.
var probeFrames = []string{"bpf_trace_run", "__bpf_trace_", "__traceiter_", "bpf_trampoline_", "trace_call_bpf", "bpf_prog_"}

// probeDepth is how many frames at the most lie between a hook and the innermost one.
// Frames further out may have the same names: a probe that was itself interrupted.
const probeDepth = 6

// Stack folds a stack and cuts netrec's own frames from its inner end.
func (r *resolver) Stack(user bool, pid int32, ts uint64, frames []uint64) string {
	s := r.symbols.Stack(user, pid, ts, frames)
	if user {
		return s
	}
	return withoutProbe(s)
}

// objects is the files that user stacks were found in, if they are more than those known.
func (r *resolver) objects(known int) []schema.Object {
	if r.symbols.User == nil {
		return nil
	}
	return r.symbols.User.Objects(known)
}

// withoutProbe is a stack as far as its hook. A sample that met nothing but a probe, where no
// more could be walked, stays what it is.
func withoutProbe(stack string) string {
	names := strings.Split(stack, ";")
	cut := len(names)
	for i := len(names) - 1; i >= max(0, len(names)-probeDepth); i-- {
		if slices.ContainsFunc(probeFrames, func(p string) bool { return strings.HasPrefix(names[i], p) }) {
			cut = i
		}
	}
	if cut == 0 {
		return stack
	}
	return strings.Join(names[:cut], ";")
}
