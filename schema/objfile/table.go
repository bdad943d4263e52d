package objfile

import (
	"cmp"
	"slices"
	"strings"
)

// Entry is one symbol; its name is names[off:off+len] of the table.
type Entry struct {
	Addr uint64
	size uint32 // 0: up to the next symbol
	off  uint32
	len  uint16
	rank uint8 // among symbols of one address the lowest gives the name
}

// Table is a sorted list of symbols, compact because a host has hundreds of
// thousands.
type Table struct {
	entries []Entry
	names   []byte
}

// Limits of any one table: what the largest unstripped programs have, not more.
const (
	MaxSymbols = 1 << 20
	maxNames   = 32 << 20
	maxName    = 4096 // longer ones are cut
)

// MaxGap is how far a symbol without a size reaches if none follows.
const MaxGap = 1 << 20

// Add appends a symbol; false when the table is full.
func (t *Table) Add(addr uint64, size uint64, rank uint8, name []byte) bool {
	if len(name) == 0 {
		return true
	}
	name = name[:min(len(name), maxName)]
	if len(t.entries) == MaxSymbols || len(t.names)+len(name) > maxNames {
		return false
	}
	t.entries = append(t.entries, Entry{Addr: addr, size: uint32(min(size, 1<<32-1)), off: uint32(len(t.names)), len: uint16(len(name)), rank: rank})
	t.names = append(t.names, name...)
	return true
}

// Name is the name of one of the table's symbols.
func (t *Table) Name(e *Entry) string { return string(t.Raw(e)) }

// Raw is Name without a copy.
func (t *Table) Raw(e *Entry) []byte { return t.names[e.off : e.off+uint32(e.len)] }

// Len is how many symbols there are, and At one of them.
func (t *Table) Len() int { return len(t.entries) }

// At is the symbol at a position.
func (t *Table) At(i int) *Entry { return &t.entries[i] }

// Bytes is how much memory the table holds.
func (t *Table) Bytes() int { return 24*cap(t.entries) + cap(t.names) }

// Sort must follow the last Add. Of several names for one address the one with
// the lower rank comes first, then the plainer: connect before __connect.
func (t *Table) Sort() {
	t.entries, t.names = slices.Clip(t.entries), slices.Clip(t.names)
	slices.SortFunc(t.entries, func(a, b Entry) int {
		if c := cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.rank, b.rank)); c != 0 {
			return c
		}
		return plainer(t.Name(&a), t.Name(&b))
	})
}

// SortByAge is Sort for lists in which a later symbol replaces one at the same address.
func (t *Table) SortByAge() {
	t.entries, t.names = slices.Clip(t.entries), slices.Clip(t.names)
	slices.SortFunc(t.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.off, a.off))
	})
}

func plainer(a, b string) int {
	underscores := func(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
	return cmp.Or(underscores(a)-underscores(b), len(a)-len(b), strings.Compare(a, b))
}

// maxBack is how many preceding symbols are tried for one that still covers an
// address behind the end of its neighbour.
const maxBack = 8

// Find returns the symbol that covers addr, nil if none does.
func (t *Table) Find(addr uint64) *Entry {
	i := t.After(addr)
	end := addr + MaxGap
	if i < len(t.entries) {
		end = t.entries[i].Addr
	}
	for back := 0; i > 0 && back < maxBack; back++ {
		i = t.first(i - 1)
		e := &t.entries[i]
		switch {
		case e.size != 0 && addr-e.Addr < uint64(e.size):
			return e
		case e.size == 0 && back == 0 && addr < end && addr-e.Addr < MaxGap:
			return e
		}
	}
	return nil
}

// After is the position of the first symbol that begins behind addr.
func (t *Table) After(addr uint64) int {
	i, _ := slices.BinarySearchFunc(t.entries, addr, func(e Entry, a uint64) int {
		if e.Addr <= a {
			return -1
		}
		return 1
	})
	return i
}

// first is the position of the first symbol with the address of symbol i.
func (t *Table) first(i int) int {
	for i > 0 && t.entries[i-1].Addr == t.entries[i].Addr {
		i--
	}
	return i
}
