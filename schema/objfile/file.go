package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits of ELF files.
const (
	maxSegments = 4096
	maxSections = 1 << 16
	maxStrings  = 64 << 20
	maxNameOf   = 64 // of a section
)

var errELF = errors.New("not an ELF file for this kind of machine")

// File is an ELF file whose headers were read. Those of either class are: sizes and
// offsets differ between them.
type File struct {
	r        io.ReaderAt
	size     uint64
	wide     bool // 64-bit
	header   []byte
	segments []segment
	notes    []segment // with notes
	sections []Section
	names    []byte // of sections; nil before they were asked for
}

// segment maps a range of the file to addresses in its symbol table.
type segment struct{ off, size, vaddr uint64 }

// Section is a named part of the file.
type Section struct {
	Offset, Size uint64
	Compressed   bool // it begins with a header that says how
	Wide         bool // that header is of a 64-bit file

	name, kind, link uint32
	addr, entsize    uint64
}

// Object is what is known of one file: where its code is loaded, which build it is, and
// its functions.
type Object struct {
	BuildID string // of GNU, in hex; "" for none
	Table   Table

	segments []segment
}

// Read reads all that there is of a file. One without symbols is no error.
func Read(r io.ReaderAt, size int64) (*Object, error) {
	f, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	o := &Object{segments: f.segments, BuildID: f.BuildID()}
	if o.Table, err = f.Functions(); err != nil {
		return nil, err
	}
	return o, nil
}

// Addr translates an offset in the file to an address in its symbol table.
func (o *Object) Addr(off uint64) (uint64, bool) {
	for _, s := range o.segments {
		if off >= s.off && off-s.off < s.size {
			return off - s.off + s.vaddr, true
		}
	}
	return 0, false
}

// Open reads the headers of a file, which must stay open while it is in use.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: uint64(size)}
	h, err := f.Bytes(0, 64)
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
	f.header = h
	if err := f.readSegments(); err != nil {
		return nil, err
	}
	return f, f.readSections()
}

// Bytes reads n bytes at off, which must lie within the file.
func (f *File) Bytes(off, n uint64) ([]byte, error) {
	if off > f.size || n > f.size-off {
		return nil, fmt.Errorf("%d bytes at %d: beyond the end of the file", n, off)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(off)); err != nil {
		return nil, err
	}
	return b, nil
}

// Section is the first section of a name; one without contents in this file is none.
func (f *File) Section(name string) (Section, bool) {
	for i := range f.sections {
		if s := &f.sections[i]; f.nameOf(s) == name && s.kind != uint32(elf.SHT_NOBITS) {
			return *s, true
		}
	}
	return Section{}, false
}

// word reads the field at off64 of a 64-bit structure or at off32 of a 32-bit one.
func (f *File) word(b []byte, off64, off32 int) uint64 {
	if f.wide {
		return binary.LittleEndian.Uint64(b[off64:])
	}
	return uint64(binary.LittleEndian.Uint32(b[off32:]))
}

// pick chooses a size or offset by class.
func (f *File) pick(wide, narrow int) int {
	if f.wide {
		return wide
	}
	return narrow
}

func (f *File) readSegments() error {
	n := int(binary.LittleEndian.Uint16(f.header[f.pick(56, 44):]))
	entsize := f.pick(56, 32)
	if n > maxSegments || n > 0 && int(binary.LittleEndian.Uint16(f.header[f.pick(54, 42):])) != entsize {
		return fmt.Errorf("%d program headers: out of range", n)
	}
	b, err := f.Bytes(f.word(f.header, 32, 28), uint64(n*entsize))
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[entsize:] {
		s := segment{off: f.word(b, 8, 4), vaddr: f.word(b, 16, 8), size: f.word(b, 32, 16)}
		switch elf.ProgType(binary.LittleEndian.Uint32(b)) {
		case elf.PT_LOAD:
			f.segments = append(f.segments, s)
		case elf.PT_NOTE:
			f.notes = append(f.notes, s)
		}
	}
	return nil
}

func (f *File) readSections() error {
	off, n := f.word(f.header, 40, 32), uint64(binary.LittleEndian.Uint16(f.header[f.pick(60, 48):]))
	entsize := f.pick(64, 40)
	if off == 0 {
		return nil
	}
	if int(binary.LittleEndian.Uint16(f.header[f.pick(58, 46):])) != entsize {
		return errors.New("section headers of unknown size")
	}
	if n == 0 { // more than fit in 16 bits: the first header has the number
		b, err := f.Bytes(off, uint64(entsize))
		if err != nil {
			return err
		}
		n = f.word(b, 32, 20)
	}
	if n > maxSections {
		return fmt.Errorf("%d sections: out of range", n)
	}
	b, err := f.Bytes(off, n*uint64(entsize))
	if err != nil {
		return err
	}
	f.sections = make([]Section, 0, n)
	for ; len(b) > 0; b = b[entsize:] {
		f.sections = append(f.sections, Section{
			name: binary.LittleEndian.Uint32(b), kind: binary.LittleEndian.Uint32(b[4:]), link: binary.LittleEndian.Uint32(b[f.pick(40, 24):]),
			addr: f.word(b, 16, 12), Offset: f.word(b, 24, 16), Size: f.word(b, 32, 20), entsize: f.word(b, 56, 36),
			Compressed: f.word(b, 8, 8)&uint64(elf.SHF_COMPRESSED) != 0, Wide: f.wide,
		})
	}
	return nil
}

// nameOf is the name of a section, "" where it is not to be had.
func (f *File) nameOf(s *Section) string {
	if f.names == nil {
		f.names = []byte{}
		i := int(binary.LittleEndian.Uint16(f.header[f.pick(62, 50):]))
		if i < len(f.sections) && f.sections[i].Size <= maxSections*maxNameOf {
			if b, err := f.Bytes(f.sections[i].Offset, f.sections[i].Size); err == nil {
				f.names = b
			}
		}
	}
	return cString(f.names, uint64(s.name), maxNameOf)
}

// cString is the string that begins at an offset and ends with a zero, cut to a length.
func cString(b []byte, at, most uint64) string {
	if at >= uint64(len(b)) {
		return ""
	}
	b = b[at:min(at+most, uint64(len(b)))]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
