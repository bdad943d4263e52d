package objfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A Go program has a table of its functions for its own runtime, which stripping
// leaves in place. The layout read here is that of Go 1.18 and later, 64-bit:
//
//	magic u32, 2 zero bytes, instruction quantum u8, pointer size u8,
//	words: functions, files, start of code, then offsets of five parts
//
// The last part begins with pairs of u32: a function's offset from the start of
// code, and where in this part its record is. The second word of a record is the
// offset of the name in the first part.
const (
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1

	goHeader    = 8 + 8*8
	maxGoTable  = 64 << 20
	goTableName = ".gopclntab"
)

// goSymbols adds the functions of a Go program, if the file is one.
func (f *File) goSymbols(t *Table) error {
	var table, text *Section
	foreign := false // linked by the system's linker, with C code before the Go code
	for i := range f.sections {
		switch f.nameOf(&f.sections[i]) {
		case goTableName, ".data.rel.ro" + goTableName:
			table = &f.sections[i]
		case ".text":
			text = &f.sections[i]
		case ".init":
			foreign = true
		}
	}
	if table == nil || text == nil || !f.wide {
		return nil
	}
	if table.Size > maxGoTable {
		return fmt.Errorf("table of %d bytes: out of range", table.Size)
	}
	b, err := f.Bytes(table.Offset, table.Size)
	if err != nil {
		return err
	}
	return parseGoTable(t, b, text, foreign)
}

var errGoTable = errors.New("table of Go functions is damaged")

func parseGoTable(t *Table, b []byte, text *Section, foreign bool) error {
	le := binary.LittleEndian
	if len(b) < goHeader {
		return errGoTable
	}
	if magic := le.Uint32(b); magic != goMagic118 && magic != goMagic120 || b[7] != 8 {
		return nil // an older Go
	}
	word := func(i int) uint64 { return le.Uint64(b[8+8*i:]) }
	count, base, nameOff, funcOff := word(0), word(2), word(3), word(7)
	// Since 1.26, and in position-independent programs, the start is not in the
	// table; it is that of the section then, unless other code comes first.
	if base < text.addr || base-text.addr >= text.Size {
		if foreign {
			return nil
		}
		base = text.addr
	}
	size := uint64(len(b))
	if count > MaxSymbols || nameOff > size || funcOff > size || (count*2+1)*4 > size-funcOff {
		return errGoTable
	}
	names, funcs := b[nameOff:], b[funcOff:]
	for i := range count {
		entry, next := le.Uint32(funcs[8*i:]), le.Uint32(funcs[8*i+8:])
		at := uint64(le.Uint32(funcs[8*i+4:]))
		if next <= entry || at+8 > uint64(len(funcs)) {
			return errGoTable
		}
		n := uint64(le.Uint32(funcs[at+4:]))
		if n >= uint64(len(names)) {
			return errGoTable
		}
		name := names[n:min(n+maxName, uint64(len(names)))]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if !t.Add(base+uint64(entry), uint64(next-entry), 0, name) {
			return errGoTable
		}
	}
	return nil
}
