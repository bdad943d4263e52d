package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// note is a note as it lies in a file.
func note(name string, kind uint32, desc []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, kind)
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	b = append(b, name...)
	pad()
	b = append(b, desc...)
	pad()
	return b
}

// notedELF has notes in a segment and others in a section.
func notedELF(segment, section []byte) []byte {
	const shoff = 64 + 56
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_DYN), Version: 1, Phoff: 64, Shoff: shoff, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 2}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[4], h.Ident[5], h.Ident[6] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	at := uint64(shoff + 2*64)
	for _, v := range []any{h, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: at, Filesz: uint64(len(segment))}, elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_NOTE), Off: at + uint64(len(segment)), Size: uint64(len(section))}} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.Write(segment)
	b.Write(section)
	return b.Bytes()
}

func idOf(t *testing.T, b []byte) string {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f.BuildID()
}

func TestBuildID(t *testing.T) {
	one, two := note("GNU\x00", 3, []byte("abcdefghijklmnopqrst")), note("GNU\x00", 3, []byte("ABCDEFGH"))
	other := note("GNU\x00", 1, []byte("0123456789abcdef"))
	foreign := note("Go\x00\x00", 4, []byte("a text that is no id of this kind"))
	const first, second = "6162636465666768696a6b6c6d6e6f7071727374", "4142434445464748"
	for _, tt := range []struct {
		name             string
		segment, section []byte
		want             string
	}{
		{"in the segment", bytes.Join([][]byte{other, foreign, one}, nil), two, first},
		{"in the section only", other, two, second},
		{"none", other, foreign, ""},
		{"too short", note("GNU\x00", 3, []byte("abc")), nil, ""},
		{"too long", note("GNU\x00", 3, make([]byte, 65)), nil, ""},
		{"of another owner", note("XYZ\x00", 3, []byte("abcdefghijkl")), nil, ""},
		{"cut", one[:len(one)-4], nil, ""},
	} {
		got := idOf(t, notedELF(tt.segment, tt.section))
		if got != tt.want || got != "" && !IsBuildID(got) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, bad := range []string{"", "abcd", strings.Repeat("A", 16), strings.Repeat("a", 17), strings.Repeat("ab", 65), "../../../../etc/x"} {
		if IsBuildID(bad) {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

// Every word of a note damaged in turn gives no id or the one that is there.
func TestHostileNotes(t *testing.T) {
	good := notedELF(note("GNU\x00", 1, []byte("0123")), note("GNU\x00", 3, []byte("abcdefgh")))
	for off := 64; off+4 <= len(good); off += 4 {
		for _, v := range []uint32{0, 1, 0xffff, math.MaxInt32, math.MaxUint32} {
			b := bytes.Clone(good)
			binary.LittleEndian.PutUint32(b[off:], v)
			if f, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
				if id := f.BuildID(); id != "" && !IsBuildID(id) {
					t.Errorf("%#x at %d: id %q", v, off, id)
				}
			}
		}
	}
}
