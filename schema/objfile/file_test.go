package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"runtime"
	"testing"
)

// smallELF is a file with one segment, a symbol table of n functions "f" and the
// names for it, laid out so that tests know where each field is.
func smallELF(n int) []byte {
	const (
		phoff  = 64
		shoff  = phoff + 56
		symoff = shoff + 3*64
	)
	stroff := symoff + n*24
	names := []byte("\x00f\x00")
	var b bytes.Buffer
	w := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: phoff, Shoff: shoff,
		Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 3}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[4], h.Ident[5], h.Ident[6] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	w(h)
	w(elf.Prog64{Type: uint32(elf.PT_LOAD), Off: 0x1000, Vaddr: 0x401000, Filesz: 0x100000})
	w(elf.Section64{})
	w(elf.Section64{Type: uint32(elf.SHT_SYMTAB), Off: symoff, Size: uint64(n * 24), Link: 2, Entsize: 24})
	w(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: uint64(stroff), Size: uint64(len(names))})
	sym := len(b.Bytes())
	w(elf.Sym64{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Size: 16})
	one := bytes.Clone(b.Bytes()[sym:])
	b.Truncate(sym)
	for i := range n {
		binary.LittleEndian.PutUint64(one[8:], 0x401000+uint64(i)*16)
		b.Write(one)
	}
	b.Write(names)
	return b.Bytes()
}

func TestReadELF(t *testing.T) {
	b := smallELF(3)
	o, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := o.Addr(0x1025)
	if !ok || v != 0x401025 {
		t.Fatalf("vaddr %#x, %v", v, ok)
	}
	if e := o.Table.Find(v); e == nil || e.Addr != 0x401020 || o.Table.Name(e) != "f" {
		t.Errorf("symbol %+v", e)
	}
	if e := o.Table.Find(0x401030); e != nil {
		t.Errorf("behind the last symbol: %+v", e)
	}
	if _, ok := o.Addr(0xfff); ok {
		t.Error("an offset before the segment was translated")
	}
}

// Fields of smallELF, by offset and size, with values that no file should have.
var hostileFields = map[string]struct {
	off    int
	size   int
	values []uint64
}{
	"program headers":     {56, 2, []uint64{0xffff, 4097}},
	"program header size": {54, 2, []uint64{0, 1, 0xffff}},
	"program header at":   {32, 8, []uint64{1, 1 << 40, math.MaxUint64, math.MaxUint64 - 55}},
	"sections":            {60, 2, []uint64{0, 0xffff}},
	"section header size": {58, 2, []uint64{0, 1, 0xffff}},
	"section headers at":  {40, 8, []uint64{1, 1 << 40, math.MaxUint64, math.MaxUint64 - 63}},
	"symbols at":          {64 + 56 + 64 + 24, 8, []uint64{1 << 40, math.MaxUint64}},
	"symbols size":        {64 + 56 + 64 + 32, 8, []uint64{1, 1 << 32, math.MaxUint64}},
	"symbols link":        {64 + 56 + 64 + 40, 4, []uint64{0, 1, 3, math.MaxUint32}},
	"symbol size":         {64 + 56 + 64 + 56, 8, []uint64{0, 1, 1 << 63}},
	"names at":            {64 + 56 + 128 + 24, 8, []uint64{1 << 40, math.MaxUint64}},
	"names size":          {64 + 56 + 128 + 32, 8, []uint64{1 << 32, 1 << 63, math.MaxUint64}},
	"name":                {64 + 56 + 192, 4, []uint64{3, 1 << 20, math.MaxUint32}},
	"segment at":          {64 + 8, 8, []uint64{math.MaxUint64}},
	"segment size":        {64 + 32, 8, []uint64{math.MaxUint64}},
	"number of sections":  {64 + 56 + 32, 8, []uint64{1 << 17, math.MaxUint64}}, // with e_shnum 0
}

// allocated measures what f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// sparse is a file of any length that holds b at its start and zeros behind.
type sparse []byte

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(s)) {
		copy(p, s[off:])
	}
	return len(p), nil
}

func TestHostileELF(t *testing.T) {
	good := smallELF(3)
	for name, f := range hostileFields {
		for _, v := range f.values {
			b := bytes.Clone(good)
			if name == "number of sections" {
				b[60], b[61] = 0, 0
			}
			var le [8]byte
			binary.LittleEndian.PutUint64(le[:], v)
			copy(b[f.off:f.off+f.size], le[:])
			// As long as it is, and so long that every size seems to fit.
			for _, size := range []int64{int64(len(b)), 1 << 50} {
				n := allocated(func() {
					if o, err := Read(sparse(b), size); err == nil && len(o.Table.entries) > 3 {
						t.Errorf("%s = %#x: %d symbols", name, v, len(o.Table.entries))
					}
				})
				if n > 80<<20 {
					t.Errorf("%s = %#x, file of %d bytes: %d bytes allocated", name, v, size, n)
				}
			}
		}
	}
}

func TestTruncatedELF(t *testing.T) {
	good := smallELF(3)
	for n := range good {
		if o, err := Read(bytes.NewReader(good[:n]), int64(n)); err == nil && len(o.Table.entries) > 0 {
			t.Errorf("%d of %d bytes: %d symbols", n, len(good), len(o.Table.entries))
		}
		// Cut while it is read: the size that was found is no longer true.
		if _, err := Read(bytes.NewReader(good[:n]), int64(len(good))); err == nil {
			t.Errorf("%d of %d bytes, cut after stat: accepted", n, len(good))
		}
	}
}

// A table as large as the limits allow is read; one symbol more is refused.
func TestELFLimits(t *testing.T) {
	full := smallELF(MaxSymbols)
	if o, err := Read(bytes.NewReader(full), int64(len(full))); err != nil || len(o.Table.entries) != MaxSymbols {
		t.Fatalf("%d symbols: %v", MaxSymbols, err)
	}
	more := smallELF(MaxSymbols + 1)
	if _, err := Read(bytes.NewReader(more), int64(len(more))); err == nil {
		t.Error("one symbol too many was accepted")
	}
}

// Every word of a Go program's table damaged in turn: no symbols rather than wrong
// memory, and never one outside the code.
func TestHostileGoTable(t *testing.T) {
	le := binary.LittleEndian
	good := make([]byte, goHeader)
	le.PutUint32(good, goMagic120)
	good[6], good[7] = 1, 8
	for i, v := range []uint64{2, 0, 0x401000, goHeader, 0, 0, 0, goHeader + 16} {
		le.PutUint64(good[8+8*i:], v)
	}
	good = append(good, "main.a\x00main.bc\x00\x00"...)[:goHeader+16]
	for _, v := range []uint32{0, 20, 16, 28, 32, 0, 0, 0, 7, 0} {
		good = le.AppendUint32(good, v)
	}
	text := &Section{addr: 0x401000, Size: 0x1000}
	var tab Table
	if err := parseGoTable(&tab, good, text, false); err != nil || len(tab.entries) != 2 {
		t.Fatalf("%d functions, %v", len(tab.entries), err)
	}
	if e := tab.Find(0x401011); e == nil || tab.Name(e) != "main.bc" {
		t.Fatalf("second function: %+v", e)
	}
	for off := range len(good) {
		for _, v := range []byte{0, 1, 0x7f, 0xff} {
			b := bytes.Clone(good)
			b[off] = v
			parseGoTable(&Table{}, b, text, false)
			parseGoTable(&Table{}, b[:off], text, true)
		}
	}
	le.PutUint64(good[8:], math.MaxUint64)
	if err := parseGoTable(&Table{}, good, text, false); err == nil {
		t.Error("2^64 functions were accepted")
	}
}

func FuzzReadELF(f *testing.F) {
	f.Add(smallELF(2))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Read(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			o.Addr(0x1000)
			o.Table.Find(0x401000)
		}
	})
}
