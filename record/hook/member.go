package hook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf/btf"

	"netrec/schema"
)

// Some structures of the kernel are tables of functions of which each kind of thing has
// its own: Qdisc_ops has one per queueing discipline. A hook whose target names the
// structure and a member, Qdisc_ops:enqueue, stands for all functions that this kernel
// and its modules have for it. They are told by their prototype and their name.
// Modules that are loaded later are not covered: of their queues the tracepoints still tell
// what happens at the root of a device. Nor is the function by which fifos give packets away:
// it is an inline function of a header, and those cannot be hooked.

// member says how the functions of a member look.
type member struct {
	word   string   // part of their names
	not    []string // names of other functions of the same form, * for any beginning
	params []string // structures to which the parameters point; ** for a second star
	ret    string   // structure to which the result points, "" for a number
}

var members = map[string]member{
	"Qdisc_ops:enqueue": {word: "enqueue", not: []string{"qdisc_enqueue", "Qdisc_ops__enqueue", "*_one", "*_soft", "*_offload"},
		params: []string{"sk_buff", "Qdisc", "**sk_buff"}},
	"Qdisc_ops:dequeue": {word: "dequeue", not: []string{"qdisc_dequeue_head", "Qdisc_ops__dequeue", "dequeue_func",
		"*_peeked", "*_peek_dequeued", "*_one", "*_soft", "*_offload", "*_process_dequeue", "*_tree"},
		params: []string{"Qdisc"}, ret: "sk_buff"},
}

// maxMembers bounds the programs of one hook: Linux has some forty queueing disciplines.
const maxMembers = 128

// hasMembers reports whether an event has hooks that stand for many functions.
func hasMembers(e *schema.Event) bool {
	return slices.ContainsFunc(e.Ladder, func(r schema.Rung) bool {
		return slices.ContainsFunc(r, func(h schema.Hook) bool { _, ok := members[h.Target]; return ok })
	})
}

// expand gives a hook per function. Kernels before 5.11 have no BTF of modules; there a
// function of a module is taken by its name, and only kprobes can use it.
func (k *kernel) expand(h schema.Hook) ([]schema.Hook, error) {
	m := members[h.Target]
	found, err := k.functionsLike()
	if err != nil {
		return nil, err
	}
	var hooks []schema.Hook
	for _, fn := range found[h.Target] {
		one := h
		one.Target, one.Optional = fn.name, true
		types, err := k.types, error(nil)
		if fn.module != "" {
			types, err = k.cache.Module(fn.module)
		}
		kprobe := h.Kind == schema.Kprobe || h.Kind == schema.Kretprobe
		switch {
		case err == nil && !m.fits(types, fn.name):
			continue
		case err != nil && !(kprobe && strings.HasPrefix(fn.module, "sch_")):
			continue
		}
		if hooks = append(hooks, one); len(hooks) == maxMembers {
			break
		}
	}
	if len(hooks) == 0 {
		return nil, errors.New("no function of this kind in this kernel")
	}
	return hooks, nil
}

// function is a function of the kernel or of a module.
type function struct{ name, module string }

// readCandidates reads the kernel's symbols, once for all members.
func readCandidates() (map[string][]function, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	defer f.Close()
	return candidates(f)
}

// candidates reads lines of kallsyms and gives, for each member, the functions with fitting
// names, each once; one that occurs twice cannot be told apart.
func candidates(r io.Reader) (map[string][]function, error) {
	out, count := map[string][]function{}, map[string]int{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		for target, m := range members {
			if !bytes.Contains(sc.Bytes(), []byte(m.word)) {
				continue // of a quarter of a million lines nearly all
			}
			f := strings.Fields(sc.Text())
			if len(f) < 3 || (f[1] != "t" && f[1] != "T") || !m.named(f[2]) {
				continue
			}
			fn := function{name: f[2]}
			if len(f) > 3 {
				fn.module = strings.Trim(f[3], "[]")
			}
			count[target+fn.name]++
			out[target] = append(out[target], fn)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	for target := range out {
		out[target] = slices.DeleteFunc(out[target], func(fn function) bool { return count[target+fn.name] > 1 })
	}
	return out, nil
}

func (m member) named(name string) bool {
	if !strings.Contains(name, m.word) || strings.HasPrefix(name, "__") || strings.Contains(name, ".") {
		return false
	}
	return !slices.ContainsFunc(m.not, func(s string) bool {
		end, any := strings.CutPrefix(s, "*")
		return name == s || any && strings.HasSuffix(name, end)
	})
}

// fits compares a function's prototype.
func (m member) fits(types *btf.Spec, name string) bool {
	var fn *btf.Func
	if types.TypeByName(name, &fn) != nil {
		return false
	}
	proto, ok := fn.Type.(*btf.FuncProto)
	if !ok || len(proto.Params) != len(m.params) || pointsTo(proto.Return) != m.ret {
		return false
	}
	for i, p := range proto.Params {
		if pointsTo(p.Type) != m.params[i] {
			return false
		}
	}
	return true
}

// pointsTo is the structure that a pointer leads to, with ** before it where it takes
// two steps, "" for what is no such pointer.
func pointsTo(t btf.Type) string {
	p, ok := btf.UnderlyingType(t).(*btf.Pointer)
	if !ok {
		return ""
	}
	prefix := ""
	if again, ok := btf.UnderlyingType(p.Target).(*btf.Pointer); ok {
		p, prefix = again, "**"
	}
	if st, ok := btf.UnderlyingType(p.Target).(*btf.Struct); ok {
		return prefix + st.Name
	}
	return ""
}
