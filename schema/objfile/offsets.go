package objfile

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// maxSought bounds the symbols that are looked at for Offsets; libraries have thousands.
const maxSought = 1 << 18

// maxSoughtName bounds the names that Offsets knows, with a version behind them.
const maxSoughtName = 64

// Offsets is where in the file functions of these names begin; those that it does not have
// are left out. It takes next to no memory, whatever the file says: names are read one by
// one, and there is no table of them.
func (f *File) Offsets(names ...string) (map[string]uint64, error) {
	sought := make(map[string]bool, len(names))
	for _, n := range names {
		sought[n] = true
	}
	found := map[string]uint64{}
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if err := f.seek(kind, sought, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// seek adds what the first section of a kind has of the names.
func (f *File) seek(kind elf.SectionType, sought map[string]bool, found map[string]uint64) error {
	s, strs := f.symbolSection(kind)
	if s == nil {
		return nil
	}
	entsize := f.pick(24, 16)
	n := s.Size / uint64(entsize)
	if s.entsize != uint64(entsize) || s.Offset > f.size || s.Size > f.size-s.Offset || n > maxSought {
		return fmt.Errorf("%d symbols of %d bytes: out of range", n, s.entsize)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f.r, int64(s.Offset), int64(s.Size)), 1<<16)
	for b := make([]byte, entsize); n > 0; n-- {
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if !f.isFunction(b) {
			continue
		}
		name, err := f.shortName(strs, binary.LittleEndian.Uint32(b))
		if err != nil {
			return err
		}
		if off, ok := f.offset(f.word(b, 8, 4)); ok && sought[name] {
			found[name] = off
		}
	}
	return nil
}

// shortName is a name of a symbol without its version, "" for one too long to be sought.
func (f *File) shortName(strs *Section, at uint32) (string, error) {
	var b [maxSoughtName]byte
	if uint64(at) >= strs.Size || strs.Offset >= f.size {
		return "", nil
	}
	n := min(uint64(len(b)), strs.Size-uint64(at), f.size-strs.Offset)
	got, err := f.r.ReadAt(b[:n], int64(strs.Offset)+int64(at))
	if err != nil && err != io.EOF {
		return "", err
	}
	end := bytes.IndexByte(b[:got], 0)
	if end < 0 {
		return "", nil
	}
	name, _, _ := bytes.Cut(b[:end], []byte{'@'})
	return string(name), nil
}

// offset translates an address in the symbol table to an offset in the file.
func (f *File) offset(addr uint64) (uint64, bool) {
	for _, s := range f.segments {
		if addr >= s.vaddr && addr-s.vaddr < s.size && s.off+(addr-s.vaddr) > 0 {
			return s.off + (addr - s.vaddr), true
		}
	}
	return 0, false
}
