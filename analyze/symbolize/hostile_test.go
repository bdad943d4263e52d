package symbolize

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// part is a section of a file made by craft.
type part struct {
	name  string
	data  []byte
	flags uint64
}

// craft makes an ELF file with the client's build id and sections as given.
func craft(parts ...part) []byte {
	id, _ := hex.DecodeString(clientID)
	note := append([]byte{4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}, id...)
	parts = append([]part{{}, {name: ".note", data: note}}, parts...)
	names := []byte{}
	at := uint64(64)
	var data bytes.Buffer
	var heads []elf.Section64
	for _, p := range append(parts, part{name: ".shstrtab"}) {
		h := elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_PROGBITS), Flags: p.flags, Off: at, Size: uint64(len(p.data))}
		names = append(append(names, p.name...), 0)
		switch p.name {
		case "":
			h = elf.Section64{}
		case ".note":
			h.Type = uint32(elf.SHT_NOTE)
		case ".shstrtab":
			p.data, h.Type, h.Size = names, uint32(elf.SHT_STRTAB), uint64(len(names))
		}
		data.Write(p.data)
		at += uint64(len(p.data))
		heads = append(heads, h)
	}
	h := elf.Header64{Type: uint16(elf.ET_DYN), Version: 1, Shoff: at, Ehsize: 64, Phentsize: 56, Shentsize: 64, Shnum: uint16(len(heads)), Shstrndx: uint16(len(heads) - 1)}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[4], h.Ident[5], h.Ident[6] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	var out bytes.Buffer
	binary.Write(&out, binary.LittleEndian, h)
	out.Write(data.Bytes())
	binary.Write(&out, binary.LittleEndian, heads)
	return out.Bytes()
}

// unitOf is a unit of DWARF 4 with entries of the caller's.
func unitOf(table uint32, entries []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(7+len(entries)))
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = binary.LittleEndian.AppendUint32(b, table)
	return append(append(b, 8), entries...)
}

// Abbreviations: 1 a unit from low to high, with children; 2 a function with a list of
// ranges; 3 a function from low to high, with an origin; 4 a block with children.
var abbreviations = []byte{
	1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0,
	2, 0x2e, 0, 0x55, 0x17, 0, 0,
	3, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0,
	4, 0x0b, 1, 0, 0,
	0}

// wholeUnit is the first entry of a unit that has all addresses below 2^32.
var wholeUnit = append(append([]byte{1}, make([]byte, 8)...), 0, 0, 0, 0, 1, 0, 0, 0)

// try puts a file into a folder, asks for names, and tells how much memory that took and
// what was said.
func try(t *testing.T, file []byte) (got string, s *Source, taken uint64) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s = named(t, dir)
	got = s.stack(inMain + ";" + inRepeat + ";" + inAttempt)
	runtime.ReadMemStats(&after)
	return got, s, after.TotalAlloc - before.TotalAlloc
}

// Bytes of a debug file may be wrong, or missing: names are lost or wrong, nothing else
// happens.
func TestDamagedFile(t *testing.T) {
	good, err := os.ReadFile(filepath.Join(testdata, "client.debug"))
	if err != nil {
		t.Fatal(err)
	}
	changed, tried := 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for off := 0; off < len(good); off += 1 + r.IntN(8) {
		b := bytes.Clone(good)
		b[off] ^= byte(1 + r.IntN(255))
		if tried++; tried%7 == 0 {
			b = b[:off]
		}
		got, _, taken := try(t, b)
		if taken > 64<<20 {
			t.Errorf("byte %d: %d bytes of memory", off, taken)
		}
		if !strings.HasSuffix(got, innermost) {
			changed++
		}
	}
	if changed < tried/10 {
		t.Errorf("of %d damages only %d had an effect", tried, changed)
	}
}

// Files whose debug information would take more than it should cost names, not memory.
func TestHostileFiles(t *testing.T) {
	many := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	var overlapping []byte
	for i := range 4000 {
		overlapping = append(overlapping, unitOf(uint32(5*i), nil)...)
	}
	long := part{name: ".debug_str", data: many(1<<20, 'x')}
	bomb := append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, packed(many(1<<20, 0))...)
	rangesOf := append([]byte{}, wholeUnit...)
	for range 100_000 {
		rangesOf = append(rangesOf, 2, 0, 0, 0, 0)
	}
	self := unitOf(0, append(append([]byte{}, wholeUnit...), 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 0))
	info := func(b []byte) part { return part{name: ".debug_info", data: b} }
	table := part{name: ".debug_abbrev", data: abbreviations}
	for _, tt := range []struct {
		name string
		file []byte
		why  string
	}{
		{"overlapping tables", craft(info(overlapping), part{name: ".debug_abbrev", data: many(4000, 1, 0x11, 1, 0, 0)}), "tables of abbreviations overlap"},
		{"many fields", craft(info(unitOf(0, nil)), part{name: ".debug_abbrev", data: append([]byte{1, 0x11, 1}, many(1<<20, 3, 8)...)}), "table of abbreviations is damaged"},
		{"long strings", craft(info(unitOf(0, nil)), table, long), "a string of"},
		{"many units", craft(info(many(maxUnits+1, unitOf(0, nil)...)), table), "more than 262144 units"},
		{"unit beyond the end", craft(info([]byte{0xff, 0, 0, 0, 4, 0}), table), "units are damaged"},
		{"promise of 1 TiB", craft(part{".debug_info", bomb, uint64(elf.SHF_COMPRESSED)}, table), "too large"},
		{"ranges for everything", craft(info(unitOf(0, rangesOf)), table, part{name: ".debug_ranges", data: many(1<<16, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0)}), "too many functions"},
		{"nested by the million", craft(info(unitOf(0, append(append([]byte{}, wholeUnit...), many(1<<20, 4)...))), table), ""},
		{"origin of itself", craft(info(self), table), ""},
	} {
		got, s, taken := try(t, tt.file)
		o := s.files.object(clientID)
		if o == nil {
			t.Errorf("%s: not read: %q", tt.name, s.notes())
			continue
		}
		if (tt.why == "") != (o.lacks() == "") || !strings.Contains(o.lacks(), tt.why) {
			t.Errorf("%s: %q, want %q; stack %s", tt.name, o.lacks(), tt.why, got)
		}
		if taken > 1<<30 {
			t.Errorf("%s: %d bytes of memory", tt.name, taken)
		}
	}
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func FuzzDebugFile(f *testing.F) {
	good, err := os.ReadFile(filepath.Join(testdata, "client.debug"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(craft(part{name: ".debug_info", data: unitOf(0, wholeUnit)}, part{name: ".debug_abbrev", data: abbreviations}))
	f.Fuzz(func(t *testing.T, b []byte) { try(t, b) })
}

// What all files together may take is bounded: beyond it names are missing, and that is
// said.
func TestNoRoom(t *testing.T) {
	s := named(t, testdata)
	s.files.room = 100
	if got := s.stack(inAttempt); got != inAttempt {
		t.Errorf("named %s without room", got)
	}
	notes := strings.Join(s.notes(), "\n")
	if !strings.Contains(notes, "no room for") || !strings.Contains(notes, "without a name: 1 frame of client") {
		t.Errorf("notes %s", notes)
	}
}
