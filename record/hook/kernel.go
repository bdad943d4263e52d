package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cilium/ebpf/btf"

	"netrec/schema"
)

// Symbols answers questions about the kernel's symbol table.
type Symbols interface {
	Has(name string) bool
	Range(name string) (lo, hi uint64, ok bool)
	// Variable is the address of a variable; of a per-CPU one, its offset.
	Variable(name string) (addr uint64, ok bool)
}

// kernel is what can be known about hooks before trying them.
type kernel struct {
	cache   *btf.Cache // decoding the kernel's BTF takes longer than loading a program
	types   *btf.Spec
	symbols Symbols
	tracefs string // "" where it is not mounted

	functionsLike func() (map[string][]function, error) // of the members, by target
}

func newKernel(symbols Symbols) (*kernel, error) {
	cache := btf.NewCache()
	types, err := cache.Kernel()
	if err != nil {
		return nil, fmt.Errorf("read the kernel's BTF: %w", err)
	}
	return &kernel{cache: cache, types: types, symbols: symbols, tracefs: findTracefs(), functionsLike: sync.OnceValues(readCandidates)}, nil
}

// check says why a hook cannot exist on this kernel, or nil.
func (k *kernel) check(h schema.Hook) error {
	if h.CallSite != "" {
		if _, _, ok := k.symbols.Range(h.CallSite); !ok {
			return fmt.Errorf("call site %s: not in kallsyms", h.CallSite)
		}
	}
	var st *btf.Struct
	if h.Without != "" && k.types.TypeByName(h.Without, &st) == nil {
		return errors.New("only for the layouts of older kernels")
	}
	if _, ok := members[h.Target]; ok {
		if h.Kind == schema.Kprobe || h.Kind == schema.Kretprobe {
			return k.haveKprobes()
		}
		return nil // each of its functions is looked at
	}
	switch h.Kind {
	case schema.RawTP:
		return k.checkTracepoint(h)
	case schema.Syscall:
		return k.checkSyscall(h)
	case schema.Fentry, schema.Fexit:
		return k.checkFunction(h)
	case schema.Kprobe, schema.Kretprobe:
		return k.checkKprobe(h)
	}
	return nil
}

// typesOf is the types among which a hook's target is.
func (k *kernel) typesOf(h schema.Hook) (*btf.Spec, error) {
	if h.Module == "" {
		return k.types, nil
	}
	types, err := k.cache.Module(h.Module)
	if err != nil {
		return nil, fmt.Errorf("module %s: not loaded, or without BTF", h.Module)
	}
	return types, nil
}

// checkTracepoint compares the number of arguments with the typedef that the kernel
// keeps for each tracepoint; its first parameter is not an argument.
func (k *kernel) checkTracepoint(h schema.Hook) error {
	types, err := k.typesOf(h)
	if err != nil {
		return err
	}
	var td *btf.Typedef
	if err := types.TypeByName("btf_trace_"+h.Target, &td); err != nil {
		return errors.New("not in this kernel's BTF")
	}
	ptr, ok := td.Type.(*btf.Pointer)
	if !ok {
		return errors.New("its BTF is not a function pointer")
	}
	proto, ok := ptr.Target.(*btf.FuncProto)
	if !ok {
		return errors.New("its BTF is not a function pointer")
	}
	return checkArgs(h, len(proto.Params)-1)
}

func (k *kernel) checkFunction(h schema.Hook) error {
	types, err := k.typesOf(h)
	if err != nil {
		return err
	}
	var fn *btf.Func
	if err := types.TypeByName(h.Target, &fn); err != nil {
		return errors.New("not a function in this kernel's BTF")
	}
	proto, ok := fn.Type.(*btf.FuncProto)
	if !ok {
		return errors.New("its BTF has no prototype")
	}
	return checkArgs(h, len(proto.Params))
}

// variantError says that a probe is for another form of its target.
type variantError struct{ have, reads int }

func (e variantError) Error() string {
	return fmt.Sprintf("has %d arguments here, this probe reads %d", e.have, e.reads)
}

func checkArgs(h schema.Hook, have int) error {
	if h.Args != 0 && h.Args != have {
		return variantError{have, h.Args}
	}
	return nil
}

func (k *kernel) haveKprobes() error {
	if _, err := os.Stat("/sys/bus/event_source/devices/kprobe"); err != nil {
		if _, err := os.Stat(filepath.Join(k.tracefs, "kprobe_events")); err != nil {
			return errors.New("this kernel has no kprobes")
		}
	}
	return nil
}

func (k *kernel) checkKprobe(h schema.Hook) error {
	if err := k.haveKprobes(); err != nil {
		return err
	}
	if !k.symbols.Has(h.Target) {
		return errors.New("not in kallsyms")
	}
	return nil
}

func (k *kernel) checkSyscall(h schema.Hook) error {
	if k.tracefs == "" {
		return noTracefs()
	}
	if _, err := os.Stat(filepath.Join(k.tracefs, "events/syscalls", h.Target)); err != nil {
		return errors.New("not in tracefs")
	}
	return nil
}

// Enum reads a kernel enum's names and values, nil if this kernel has none of that name.
func (k *kernel) enum(name string) map[string]int64 {
	var e *btf.Enum
	if err := k.types.TypeByName(name, &e); err != nil {
		return nil
	}
	values := make(map[string]int64, len(e.Values))
	for _, v := range e.Values {
		values[v.Name] = int64(v.Value)
	}
	return values
}
