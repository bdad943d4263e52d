package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/bits"
	"os"
	"strconv"

	"netrec/schema/objfile"
)

// ErrHidden means that the kernel shows no addresses to this process.
var ErrHidden = errors.New("kernel addresses are hidden (needs CAP_SYSLOG, or kernel.kptr_restrict=0 with kernel.perf_event_paranoid below 2)")

// Kernel knows the functions of the running kernel and its modules. A nil *Kernel
// knows none. It does not change after it was loaded and may be shared.
type Kernel struct {
	vars  map[string]uint64
	table objfile.Table
	bpf   objfile.Table // programs and trampolines of BPF
	seed  maphash.Seed
	slots []uint32 // hash table by name, open addressing: positions in table.entries plus one
}

// LoadKernel reads /proc/kallsyms; modules loaded later are not in it. The error
// is ErrHidden where all addresses are zero.
func LoadKernel() (*Kernel, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	defer f.Close()
	k, err := parseKernel(f)
	if err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	return k, nil
}

// parseKernel reads lines of "address type name [module]" and keeps the functions.
func parseKernel(r io.Reader) (*Kernel, error) {
	k := &Kernel{vars: map[string]uint64{}}
	s := bufio.NewScanner(r)
	hidden := 0
	for s.Scan() {
		line := s.Bytes()
		addr, rest, ok := bytes.Cut(line, []byte{' '})
		kind, rest, ok2 := bytes.Cut(rest, []byte{' '})
		if !ok || !ok2 || len(kind) != 1 {
			return nil, fmt.Errorf("line %.80q: not an address, a type and a name", line)
		}
		rank, isText := textRank(kind[0])
		if !isText && !variables[string(rest)] {
			continue
		}
		a, err := strconv.ParseUint(string(addr), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("line %.80q: %w", line, err)
		}
		if !isText {
			k.vars[string(rest)] = a
			continue
		}
		if a == 0 {
			hidden++
			continue
		}
		name, module, _ := bytes.Cut(rest, []byte{'\t'})
		table := &k.table
		if string(module) == bpfModule {
			table = &k.bpf
		}
		if !table.Add(a, 0, rank, name) {
			return nil, fmt.Errorf("more than %d symbols", objfile.MaxSymbols)
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if k.table.Len() == 0 {
		if hidden > 0 {
			return nil, ErrHidden
		}
		return nil, errors.New("no functions found")
	}
	k.index()
	return k, nil
}

// variables are the data symbols that are kept: per-CPU ones by which probes tell
// tasks from interrupts. Kernels without CONFIG_KALLSYMS_ALL list none.
var variables = map[string]bool{"__preempt_count": true, "pcpu_hot": true, "runqueues": true}

// Variable is the address of one of the few variables that are kept; for a per-CPU
// variable, its offset in each CPU's area.
func (k *Kernel) Variable(name string) (addr uint64, ok bool) {
	if k == nil {
		return 0, false
	}
	addr, ok = k.vars[name]
	return addr, ok
}

// textRank accepts functions; a global one gives a better name than a local or a
// weak one at the same address.
func textRank(kind byte) (uint8, bool) {
	switch kind {
	case 'T':
		return 0, true
	case 't':
		return 1, true
	case 'w', 'W':
		return 2, true
	}
	return 0, false
}

// index makes names findable. Half of the slots stay empty, so that a search ends.
func (k *Kernel) index() {
	k.table.Sort()
	k.bpf.Sort()
	k.seed = maphash.MakeSeed()
	k.slots = make([]uint32, 1<<bits.Len(uint(2*k.table.Len())))
	for i := range k.table.Len() {
		at := k.slot(k.nameAt(i))
		for k.slots[at] != 0 {
			at = (at + 1) & (len(k.slots) - 1)
		}
		k.slots[at] = uint32(i) + 1
	}
}

func (k *Kernel) slot(name []byte) int {
	return int(maphash.Bytes(k.seed, name) & uint64(len(k.slots)-1))
}

func (k *Kernel) nameAt(i int) []byte {
	return k.table.Raw(k.table.At(i))
}

// Len is the number of functions known.
func (k *Kernel) Len() int {
	if k == nil {
		return 0
	}
	return k.table.Len()
}

// Name is the function at addr and the offset in it, "tcp_v4_rcv+0x1a", or the
// address where no function is known.
func (k *Kernel) Name(addr uint64) string {
	s, _ := k.frame(addr, addr)
	return s
}

// frames names the frames of a stack, but for those that are there because somebody looks.
func (k *Kernel) frames(at, addrs []uint64) (names []string, complete bool) {
	names, complete = make([]string, len(addrs)), true
	for i, skip := range k.hidden(at, addrs) {
		if !skip {
			text, ok := k.frame(at[i], addrs[i])
			names[i], complete = text, complete && ok
		}
	}
	return names, complete
}

// frame names the function that covers at, with the offset of addr.
func (k *Kernel) frame(at, addr uint64) (string, bool) {
	if k != nil {
		if e := k.find(at); e != nil {
			return clean(objfile.Demangle(k.table.Name(e))) + "+0x" + strconv.FormatUint(addr-e.Addr, 16), true
		}
		if e := k.bpf.Find(at); e != nil {
			return clean(k.bpf.Name(e)) + "+0x" + strconv.FormatUint(addr-e.Addr, 16), true
		}
	}
	return hex(addr), false
}

// Has reports whether the kernel has a function of that name.
func (k *Kernel) Has(name string) bool {
	_, n := k.named(name)
	return n > 0
}

// Range is where a function begins and ends. It is not ok where several functions
// have the name: static ones of different files may.
func (k *Kernel) Range(name string) (lo, hi uint64, ok bool) {
	e, n := k.named(name)
	if n != 1 {
		return 0, 0, false
	}
	lo, hi = e.Addr, e.Addr+objfile.MaxGap
	if i := k.table.After(lo); i < k.table.Len() {
		hi = min(hi, k.table.At(i).Addr)
	}
	return lo, hi, true
}

// named finds a function by name, and how many have it.
func (k *Kernel) named(name string) (e *objfile.Entry, n int) {
	if k == nil {
		return nil, 0
	}
	for at := k.slot([]byte(name)); k.slots[at] != 0; at = (at + 1) & (len(k.slots) - 1) {
		if i := int(k.slots[at] - 1); string(k.nameAt(i)) == name {
			e, n = k.table.At(i), n+1
		}
	}
	return e, n
}
