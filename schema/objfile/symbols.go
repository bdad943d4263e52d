package objfile

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Functions is the functions that the file has names for; none is no error.
func (f *File) Functions() (Table, error) {
	var t Table
	err := f.functions(&t)
	t.Sort()
	return t, err
}

// functions fills the table: .symtab is complete; in a stripped file .dynsym and a
// Go program's own table together are what is left.
func (f *File) functions(t *Table) error {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if s, strs := f.symbolSection(kind); s != nil {
			if err := f.symbols(t, s, strs); err != nil {
				return err
			}
		}
		if kind == elf.SHT_SYMTAB && t.Len() > 0 {
			return nil
		}
	}
	if len(f.sections) == 0 {
		return nil
	}
	before := *t
	if f.goSymbols(t) != nil {
		*t = before // what the table gave before it turned out damaged is not to be trusted
	}
	return nil
}

// symbolSection is the first section of a kind, and its names; nil for none. A file has at
// most one of each kind; a hostile one may have thousands.
func (f *File) symbolSection(kind elf.SectionType) (symbols, names *Section) {
	i := slices.IndexFunc(f.sections, func(s Section) bool { return s.kind == uint32(kind) })
	if i < 0 || int64(f.sections[i].link) >= int64(len(f.sections)) {
		return nil, nil
	}
	return &f.sections[i], &f.sections[f.sections[i].link]
}

// symbols adds the functions of a symbol section with names from strs.
func (f *File) symbols(t *Table, s, strs *Section) error {
	entsize := f.pick(24, 16)
	switch {
	case s.entsize != uint64(entsize) || s.Offset > f.size || s.Size > f.size-s.Offset:
		return errors.New("symbol section out of range")
	case strs.kind != uint32(elf.SHT_STRTAB) || strs.Size > maxStrings:
		return fmt.Errorf("names of %d bytes: out of range", strs.Size)
	case s.Size/uint64(entsize) > 4*MaxSymbols:
		return fmt.Errorf("%d symbols: out of range", s.Size/uint64(entsize))
	}
	names, err := f.Bytes(strs.Offset, strs.Size)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f.r, int64(s.Offset), int64(s.Size)), 1<<16)
	b := make([]byte, entsize)
	for range s.Size / uint64(entsize) {
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if !f.symbol(t, b, names) {
			return fmt.Errorf("more than %d functions or %d bytes of names", MaxSymbols, maxNames)
		}
	}
	return nil
}

// symbol adds one symbol if it is a function with a name; false when the table is full.
func (f *File) symbol(t *Table, b, names []byte) bool {
	if !f.isFunction(b) {
		return true
	}
	at := uint64(binary.LittleEndian.Uint32(b))
	if at >= uint64(len(names)) {
		return true
	}
	name := names[at:min(at+maxName, uint64(len(names)))]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if i := bytes.IndexByte(name, '@'); i > 0 {
		name = name[:i] // its version, which .dynsym has elsewhere
	}
	rank := uint8(0)
	if elf.ST_BIND(b[f.pick(4, 12)]) == elf.STB_LOCAL {
		rank = 1
	}
	return t.Add(f.word(b, 8, 4), f.word(b, 16, 8), rank, name)
}

// isFunction tells of a symbol whether it is code that the file has.
func (f *File) isFunction(b []byte) bool {
	defined := binary.LittleEndian.Uint16(b[f.pick(6, 14):]) != uint16(elf.SHN_UNDEF)
	typ := elf.ST_TYPE(b[f.pick(4, 12)])
	return defined && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC)
}
