package symbol

import (
	"cmp"
	"slices"
	"strings"
)

// entry is one symbol; its name is names[off:off+len] of the table.
type entry struct {
	addr uint64
	size uint32 // 0: up to the next symbol
	off  uint32
	len  uint16
	rank uint8 // among symbols of one address the lowest gives the name
}

// table is a sorted list of symbols, compact because a host has hundreds of
// thousands.
type table struct {
	entries []entry
	names   []byte
}

// Limits of any one table: what the largest unstripped programs have, not more.
const (
	maxSymbols = 1 << 20
	maxNames   = 32 << 20
	maxName    = 4096 // longer ones are cut
)

// maxGap is how far a symbol without a size reaches if none follows.
const maxGap = 1 << 20

// add appends a symbol; false when the table is full.
func (t *table) add(addr uint64, size uint64, rank uint8, name []byte) bool {
	if len(name) == 0 {
		return true
	}
	name = name[:min(len(name), maxName)]
	if len(t.entries) == maxSymbols || len(t.names)+len(name) > maxNames {
		return false
	}
	t.entries = append(t.entries, entry{addr: addr, size: uint32(min(size, 1<<32-1)), off: uint32(len(t.names)), len: uint16(len(name)), rank: rank})
	t.names = append(t.names, name...)
	return true
}

func (t *table) name(e *entry) string { return string(t.names[e.off : e.off+uint32(e.len)]) }

func (t *table) bytes() int { return 24*cap(t.entries) + cap(t.names) }

// sort must follow the last add. Of several names for one address the one with
// the lower rank comes first, then the plainer: connect before __connect.
func (t *table) sort() {
	t.entries, t.names = slices.Clip(t.entries), slices.Clip(t.names)
	slices.SortFunc(t.entries, func(a, b entry) int {
		if c := cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.rank, b.rank)); c != 0 {
			return c
		}
		return plainer(t.name(&a), t.name(&b))
	})
}

func plainer(a, b string) int {
	underscores := func(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
	return cmp.Or(underscores(a)-underscores(b), len(a)-len(b), strings.Compare(a, b))
}

// maxBack is how many preceding symbols are tried for one that still covers an
// address behind the end of its neighbour.
const maxBack = 8

// find returns the symbol that covers addr, nil if none does.
func (t *table) find(addr uint64) *entry {
	i := t.after(addr)
	end := addr + maxGap
	if i < len(t.entries) {
		end = t.entries[i].addr
	}
	for back := 0; i > 0 && back < maxBack; back++ {
		i = t.first(i - 1)
		e := &t.entries[i]
		switch {
		case e.size != 0 && addr-e.addr < uint64(e.size):
			return e
		case e.size == 0 && back == 0 && addr < end && addr-e.addr < maxGap:
			return e
		}
	}
	return nil
}

// after is the position of the first symbol that begins behind addr.
func (t *table) after(addr uint64) int {
	i, _ := slices.BinarySearchFunc(t.entries, addr, func(e entry, a uint64) int {
		if e.addr <= a {
			return -1
		}
		return 1
	})
	return i
}

// first is the position of the first symbol with the address of symbol i.
func (t *table) first(i int) int {
	for i > 0 && t.entries[i-1].addr == t.entries[i].addr {
		i--
	}
	return i
}
