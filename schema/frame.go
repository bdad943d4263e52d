package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The capture file is Parquet that only ever grows:
//
//	"PAR1" nonce[16] { frame header | row groups | checkpoint | [footer] | trailer }*
//
// The trailer is Parquet's own: a length and "PAR1". Where a commit brings no
// footer, the length reaches back to the newest one; readers stop at the end
// of its Thrift structure, so the file opens everywhere after any commit.

// FormatVersion is the version of file layout and metadata, in netrec.format.
const FormatVersion = 1

// Sizes and limits of the file layout.
const (
	Magic       = "PAR1"
	NonceSize   = 16
	FileStart   = len(Magic) + NonceSize // offset of the first frame
	FrameSize   = 64                     // length of a frame header
	TrailerSize = 8                      // footer length and Magic
	MaxFrame    = 1 << 30                // longest body or footer that a reader accepts

	frameMagic = "nrFRAME\x01"
)

// Castagnoli is the CRC32C table; the polynomial amd64 and arm64 compute in hardware.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frame is the header of one commit.
type Frame struct {
	Nonce      [NonceSize]byte
	Seq        uint64 // 0 for the first commit, then one more each
	Body       uint64 // bytes of row groups and checkpoint
	Checkpoint uint32 // how many of them, at the end of the body, are the checkpoint
	Footer     uint32 // bytes of the footer that follows the body, 0 for none
	BodyCRC    uint32 // CRC32C of the body
	FooterCRC  uint32 // CRC32C of the footer without Room; meaningless once its bytes are punched out
	Room       uint32 // bytes at the footer's start that are left for row groups of later commits
}

// Len is the distance from this frame's header to the next one's.
func (f *Frame) Len() int64 {
	return FrameSize + int64(f.Body) + int64(f.Footer) + TrailerSize
}

// Append adds the encoded header to b.
func (f *Frame) Append(b []byte) []byte {
	start := len(b)
	b = append(b, frameMagic...)
	b = append(b, f.Nonce[:]...)
	b = binary.LittleEndian.AppendUint64(b, f.Seq)
	b = binary.LittleEndian.AppendUint64(b, f.Body)
	for _, v := range []uint32{f.Checkpoint, f.Footer, f.BodyCRC, f.FooterCRC, f.Room} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], Castagnoli))
}

// ErrFrame means that the bytes are not a frame header of this file.
var ErrFrame = errors.New("not a frame")

// ParseFrame decodes a header and checks its own CRC, nonce, sequence and sizes.
func ParseFrame(b []byte, nonce [NonceSize]byte, seq uint64) (Frame, error) {
	var f Frame
	if len(b) < FrameSize || string(b[:8]) != frameMagic {
		return f, ErrFrame
	}
	le := binary.LittleEndian
	if crc32.Checksum(b[:FrameSize-4], Castagnoli) != le.Uint32(b[FrameSize-4:]) {
		return f, fmt.Errorf("%w: header checksum differs", ErrFrame)
	}
	copy(f.Nonce[:], b[8:])
	f.Seq, f.Body = le.Uint64(b[24:]), le.Uint64(b[32:])
	f.Checkpoint, f.Footer, f.BodyCRC, f.FooterCRC = le.Uint32(b[40:]), le.Uint32(b[44:]), le.Uint32(b[48:]), le.Uint32(b[52:])
	f.Room = le.Uint32(b[56:])
	switch {
	case !bytes.Equal(f.Nonce[:], nonce[:]):
		return f, fmt.Errorf("%w: of another file", ErrFrame)
	case f.Seq != seq:
		return f, fmt.Errorf("%w: commit %d where %d was due", ErrFrame, f.Seq, seq)
	case f.Body > MaxFrame || f.Footer > MaxFrame || uint64(f.Checkpoint) > f.Body || f.Room > f.Footer:
		return f, fmt.Errorf("%w: sizes out of range", ErrFrame)
	}
	return f, nil
}

// Sections of a checkpoint.
const (
	SectionBase     = 1 // Thrift FileMetaData with schema and without row groups; in the first commit
	SectionRowGroup = 2 // Thrift RowGroup with absolute offsets
	SectionMeta     = 3 // JSON object of metadata that changed, by key
	SectionGroups   = 4 // the length (u32) of Thrift RowGroups one after the other, then these as a zstd frame
)

// AppendSection adds one section to a checkpoint.
func AppendSection(b []byte, kind uint32, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// Sections calls f for each section of a checkpoint; sections of unknown kinds are passed on.
func Sections(b []byte, f func(kind uint32, data []byte) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errors.New("checkpoint: cut off")
		}
		kind, n := binary.LittleEndian.Uint32(b), uint64(binary.LittleEndian.Uint32(b[4:]))
		if n > uint64(len(b)-8) {
			return errors.New("checkpoint: section longer than the checkpoint")
		}
		if err := f(kind, b[8:8+n]); err != nil {
			return err
		}
		b = b[8+n:]
	}
	return nil
}
