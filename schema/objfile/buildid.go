package objfile

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
)

// Limits of notes and of the ids in them. Linkers make ids of 8 to 20 bytes; shorter ones
// do not tell builds apart.
const (
	maxNotes   = 64 << 10
	maxNoteIn  = 16 // segments or sections with notes that are looked into
	minBuildID = 8
	maxBuildID = 64
)

// BuildID is the id that the linker gave this build, in hex; "" if it gave none. A
// debug file has the id of the file it was made from.
func (f *File) BuildID() string {
	for i, s := range f.notes {
		if i == maxNoteIn {
			break
		}
		if id := f.buildID(s.off, s.size); id != "" {
			return id
		}
	}
	// In files that hold only debug information, segments may point to nothing.
	n := 0
	for i := range f.sections {
		if s := &f.sections[i]; s.kind == uint32(elf.SHT_NOTE) {
			if n++; n > maxNoteIn {
				break
			}
			if id := f.buildID(s.Offset, s.Size); id != "" {
				return id
			}
		}
	}
	return ""
}

// buildID looks for the id among the notes at a place of the file.
func (f *File) buildID(off, size uint64) string {
	if size > maxNotes {
		return ""
	}
	b, err := f.Bytes(off, size)
	if err != nil {
		return ""
	}
	const noteHeader, gnuBuildID = 12, 3
	for len(b) >= noteHeader {
		nameLen, descLen := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
		kind := binary.LittleEndian.Uint32(b[8:])
		desc := noteHeader + (nameLen+3)&^3
		end := desc + (descLen+3)&^3
		if desc+descLen > uint64(len(b)) {
			return ""
		}
		if kind == gnuBuildID && string(b[noteHeader:noteHeader+nameLen]) == "GNU\x00" && descLen >= minBuildID && descLen <= maxBuildID {
			return hex.EncodeToString(b[desc : desc+descLen])
		}
		b = b[min(end, uint64(len(b))):]
	}
	return ""
}

// IsBuildID reports whether a text is a build id in hex, as BuildID gives it.
func IsBuildID(s string) bool {
	if len(s)%2 != 0 || len(s) < 2*minBuildID || len(s) > 2*maxBuildID {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
