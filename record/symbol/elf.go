package symbol

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

// Limits of ELF files. Files are read as untrusted: every size is compared with
// these and with the length of the file before anything is allocated, which the
// standard library's reader does not do for symbols.
const (
	maxSegments = 4096
	maxSections = 1 << 16
	maxStrings  = 64 << 20
)

// object is what is known of one file: where its code is loaded, and its symbols.
type object struct {
	segments []segment
	table    table
}

// segment maps a range of the file to addresses in its symbol table.
type segment struct{ off, size, vaddr uint64 }

var errELF = errors.New("not an ELF file for this kind of machine")

// elfFile reads headers of either class; sizes and offsets differ between them.
type elfFile struct {
	r    io.ReaderAt
	size uint64
	wide bool // 64-bit
}

type section struct {
	name, kind, link         uint32
	addr, off, size, entsize uint64
}

// readELF reads segments and functions of a file. One without symbols is no error.
func readELF(r io.ReaderAt, size int64) (*object, error) {
	f := &elfFile{r: r, size: uint64(size)}
	h, err := f.bytes(0, 64)
	if err != nil {
		return nil, errELF
	}
	kind := elf.Type(binary.LittleEndian.Uint16(h[16:]))
	if string(h[:4]) != elf.ELFMAG || elf.Data(h[5]) != elf.ELFDATA2LSB || kind != elf.ET_EXEC && kind != elf.ET_DYN {
		return nil, errELF
	}
	switch elf.Class(h[4]) {
	case elf.ELFCLASS64:
		f.wide = true
	case elf.ELFCLASS32:
	default:
		return nil, errELF
	}
	o := &object{}
	if o.segments, err = f.segments(h); err != nil {
		return nil, err
	}
	sections, err := f.sections(h)
	if err != nil {
		return nil, err
	}
	if err := f.functions(&o.table, h, sections); err != nil {
		return nil, err
	}
	o.table.sort()
	return o, nil
}

// functions fills the table: .symtab is complete; in a stripped file .dynsym and a
// Go program's own table together are what is left.
func (f *elfFile) functions(t *table, h []byte, sections []section) error {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		// A file has at most one of each; a hostile one may have thousands.
		i := slices.IndexFunc(sections, func(s section) bool { return s.kind == uint32(kind) })
		if i >= 0 && int64(sections[i].link) < int64(len(sections)) {
			if err := f.symbols(t, sections[i], sections[sections[i].link]); err != nil {
				return err
			}
		}
		if kind == elf.SHT_SYMTAB && len(t.entries) > 0 {
			return nil
		}
	}
	if len(sections) == 0 {
		return nil
	}
	before := *t
	if f.goSymbols(t, h, sections) != nil {
		*t = before // what the table gave before it turned out damaged is not to be trusted
	}
	return nil
}

// bytes reads n bytes at off, which must lie within the file.
func (f *elfFile) bytes(off, n uint64) ([]byte, error) {
	if off > f.size || n > f.size-off {
		return nil, fmt.Errorf("%d bytes at %d: beyond the end of the file", n, off)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(off)); err != nil {
		return nil, err
	}
	return b, nil
}

// word reads the field at off64 of a 64-bit structure or at off32 of a 32-bit one.
func (f *elfFile) word(b []byte, off64, off32 int) uint64 {
	if f.wide {
		return binary.LittleEndian.Uint64(b[off64:])
	}
	return uint64(binary.LittleEndian.Uint32(b[off32:]))
}

// pick chooses a size or offset by class.
func (f *elfFile) pick(wide, narrow int) int {
	if f.wide {
		return wide
	}
	return narrow
}

func (f *elfFile) segments(h []byte) ([]segment, error) {
	n := int(binary.LittleEndian.Uint16(h[f.pick(56, 44):]))
	entsize := f.pick(56, 32)
	if n > maxSegments || n > 0 && int(binary.LittleEndian.Uint16(h[f.pick(54, 42):])) != entsize {
		return nil, fmt.Errorf("%d program headers: out of range", n)
	}
	b, err := f.bytes(f.word(h, 32, 28), uint64(n*entsize))
	if err != nil {
		return nil, err
	}
	var out []segment
	for ; len(b) > 0; b = b[entsize:] {
		if elf.ProgType(binary.LittleEndian.Uint32(b)) == elf.PT_LOAD {
			out = append(out, segment{off: f.word(b, 8, 4), vaddr: f.word(b, 16, 8), size: f.word(b, 32, 16)})
		}
	}
	return out, nil
}

func (f *elfFile) sections(h []byte) ([]section, error) {
	off, n := f.word(h, 40, 32), uint64(binary.LittleEndian.Uint16(h[f.pick(60, 48):]))
	entsize := f.pick(64, 40)
	if off == 0 {
		return nil, nil
	}
	if int(binary.LittleEndian.Uint16(h[f.pick(58, 46):])) != entsize {
		return nil, errors.New("section headers of unknown size")
	}
	if n == 0 { // more than fit in 16 bits: the first header has the number
		b, err := f.bytes(off, uint64(entsize))
		if err != nil {
			return nil, err
		}
		n = f.word(b, 32, 20)
	}
	if n > maxSections {
		return nil, fmt.Errorf("%d sections: out of range", n)
	}
	b, err := f.bytes(off, n*uint64(entsize))
	if err != nil {
		return nil, err
	}
	out := make([]section, 0, n)
	for ; len(b) > 0; b = b[entsize:] {
		out = append(out, section{
			name: binary.LittleEndian.Uint32(b), kind: binary.LittleEndian.Uint32(b[4:]), link: binary.LittleEndian.Uint32(b[f.pick(40, 24):]),
			addr: f.word(b, 16, 12), off: f.word(b, 24, 16), size: f.word(b, 32, 20), entsize: f.word(b, 56, 36),
		})
	}
	return out, nil
}

// symbols adds the functions of a symbol section with names from strs.
func (f *elfFile) symbols(t *table, s, strs section) error {
	entsize := f.pick(24, 16)
	switch {
	case s.entsize != uint64(entsize) || s.off > f.size || s.size > f.size-s.off:
		return errors.New("symbol section out of range")
	case strs.kind != uint32(elf.SHT_STRTAB) || strs.size > maxStrings:
		return fmt.Errorf("names of %d bytes: out of range", strs.size)
	case s.size/uint64(entsize) > 4*maxSymbols:
		return fmt.Errorf("%d symbols: out of range", s.size/uint64(entsize))
	}
	names, err := f.bytes(strs.off, strs.size)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f.r, int64(s.off), int64(s.size)), 1<<16)
	b := make([]byte, entsize)
	for range s.size / uint64(entsize) {
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if !f.symbol(t, b, names) {
			return fmt.Errorf("more than %d functions or %d bytes of names", maxSymbols, maxNames)
		}
	}
	return nil
}

// symbol adds one symbol if it is a function with a name; false when the table is full.
func (f *elfFile) symbol(t *table, b, names []byte) bool {
	info := b[f.pick(4, 12)]
	defined := binary.LittleEndian.Uint16(b[f.pick(6, 14):]) != uint16(elf.SHN_UNDEF)
	if typ := elf.ST_TYPE(info); !defined || typ != elf.STT_FUNC && typ != elf.STT_GNU_IFUNC {
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
	rank := uint8(0)
	if elf.ST_BIND(info) == elf.STB_LOCAL {
		rank = 1
	}
	return t.add(f.word(b, 8, 4), f.word(b, 16, 8), rank, name)
}

// vaddr translates an offset in the file to an address in its symbol table.
func (o *object) vaddr(off uint64) (uint64, bool) {
	for _, s := range o.segments {
		if off >= s.off && off-s.off < s.size {
			return off - s.off + s.vaddr, true
		}
	}
	return 0, false
}
