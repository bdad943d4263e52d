package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// ErrHidden means that the kernel shows no addresses to this process.
var ErrHidden = errors.New("kernel addresses are hidden (needs CAP_SYSLOG, or kernel.kptr_restrict=0 with kernel.perf_event_paranoid below 2)")

// Kernel knows the functions of the running kernel and its modules. A nil *Kernel
// knows none. It does not change after it was loaded and may be shared.
type Kernel struct {
	table  table
	byName []uint32 // positions in table.entries, sorted by name
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
	k := &Kernel{}
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
		if !isText {
			continue
		}
		a, err := strconv.ParseUint(string(addr), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("line %.80q: %w", line, err)
		}
		if a == 0 {
			hidden++
			continue
		}
		name, _, _ := bytes.Cut(rest, []byte{'\t'})
		if !k.table.add(a, 0, rank, name) {
			return nil, fmt.Errorf("more than %d symbols", maxSymbols)
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(k.table.entries) == 0 {
		if hidden > 0 {
			return nil, ErrHidden
		}
		return nil, errors.New("no functions found")
	}
	k.index()
	return k, nil
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

func (k *Kernel) index() {
	k.table.sort()
	k.byName = make([]uint32, len(k.table.entries))
	for i := range k.byName {
		k.byName[i] = uint32(i)
	}
	slices.SortStableFunc(k.byName, func(a, b uint32) int { return bytes.Compare(k.nameAt(a), k.nameAt(b)) })
}

func (k *Kernel) nameAt(i uint32) []byte {
	e := &k.table.entries[i]
	return k.table.names[e.off : e.off+uint32(e.len)]
}

// Len is the number of functions known.
func (k *Kernel) Len() int {
	if k == nil {
		return 0
	}
	return len(k.table.entries)
}

// Name is the function at addr and the offset in it, "tcp_v4_rcv+0x1a", or the
// address where no function is known.
func (k *Kernel) Name(addr uint64) string {
	s, _ := k.frame(addr, addr)
	return s
}

// frame names the function that covers at, with the offset of addr.
func (k *Kernel) frame(at, addr uint64) (string, bool) {
	if k != nil {
		if e := k.table.find(at); e != nil {
			return clean(k.table.name(e)) + "+0x" + strconv.FormatUint(addr-e.addr, 16), true
		}
	}
	return hex(addr), false
}

// Has reports whether the kernel has a function of that name.
func (k *Kernel) Has(name string) bool {
	if k == nil {
		return false
	}
	_, n := k.named(name)
	return n > 0
}

// Range is where a function begins and ends. It is not ok where several functions
// have the name: static ones of different files may.
func (k *Kernel) Range(name string) (lo, hi uint64, ok bool) {
	if k == nil {
		return 0, 0, false
	}
	i, n := k.named(name)
	if n != 1 {
		return 0, 0, false
	}
	lo = k.table.entries[k.byName[i]].addr
	hi = lo + maxGap
	if j := k.table.after(lo); j < len(k.table.entries) {
		hi = min(hi, k.table.entries[j].addr)
	}
	return lo, hi, true
}

// named finds a name in byName: the first position and how many there are.
func (k *Kernel) named(name string) (int, int) {
	i, found := slices.BinarySearchFunc(k.byName, name, func(e uint32, s string) int {
		return bytes.Compare(k.nameAt(e), []byte(s))
	})
	n := 0
	for found && i+n < len(k.byName) && string(k.nameAt(k.byName[i+n])) == name {
		n++
	}
	return i, n
}
