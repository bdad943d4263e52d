package record

import (
	"strings"
	"sync"

	"netrec/schema"
)

// stacker folds stacks and names kernel addresses; package symbol does both.
type stacker interface {
	Ksym(addr uint64) string
	Stack(user bool, pid int32, frames []uint64) string
}

// resolver names what records carry as numbers.
type resolver struct {
	stacker
	enums map[*schema.Enum]map[int64]string

	mu      sync.Mutex // strings are added while others are read
	strings []string
	refs    map[string]uint32
}

func newResolver(st stacker) *resolver {
	return &resolver{stacker: st, enums: map[*schema.Enum]map[int64]string{}, strings: []string{""}, refs: map[string]uint32{"": 0}}
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

// probeFrames begin the names of functions between a hook and its program; they
// are netrec's own doing, not part of the kernel's path.
var probeFrames = []string{"bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "bpf_trampoline_", "bpf_get_stack", "trace_call_bpf"}

// Stack folds a stack and cuts netrec's own frames from its inner end.
func (r *resolver) Stack(user bool, pid int32, frames []uint64) string {
	s := r.stacker.Stack(user, pid, frames)
	if user {
		return s
	}
	for {
		outer, inner := "", s
		if i := strings.LastIndexByte(s, ';'); i >= 0 {
			outer, inner = s[:i], s[i+1:]
		}
		if !hasPrefix(inner, probeFrames) {
			return s
		}
		s = outer
	}
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
