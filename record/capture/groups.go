package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"netrec/schema"
)

// groups are Thrift row groups of the next commit, one after the other.
type groups struct {
	thrift []byte
	n      int
	rows   int64
}

func (g *groups) add(thrift []byte, rows int64) {
	g.thrift = append(g.thrift, thrift...)
	g.n++
	g.rows += rows
}

func (g *groups) truncate() { *g = groups{thrift: g.thrift[:0]} }

// packWindow is how far back the packer looks for repetition: row groups of one commit, which repeat
// each other every ten kilobytes. Its default is megabytes, for which it takes memory.
const packWindow = 256 << 10 // bytes

// written is what the file holds so far. A row group takes ten kilobytes of metadata, mostly
// names and places of columns that it lacks, and a file has thousands. They stay in the file,
// compressed in the checkpoints of their commits, and are read from there when a footer is due: the
// recorder's memory does not grow with the file.
type written struct {
	sections []section // of each commit that has row groups
	n        int
	rows     int64
	bytes    int64 // of Thrift
	zip      *zstd.Encoder
	unzip    *zstd.Decoder
	packed   []byte // scratch
	thrift   []byte // the same
}

// section is where the row groups of a commit lie in the file.
type section struct {
	off    int64
	n, crc uint32
}

var errChanged = errors.New("the file was changed by another program while it was being written")

func newWritten() (written, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(packWindow))
	if err != nil {
		return written{}, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return written{zip: zip, unzip: unzip}, err
}

// pack makes the section of a checkpoint that has the row groups. It is valid until the next call.
func (w *written) pack(g *groups) []byte {
	w.packed = w.zip.EncodeAll(g.thrift, binary.LittleEndian.AppendUint32(w.packed[:0], uint32(len(g.thrift))))
	return w.packed
}

// add notes the row groups of a commit, whose section is packed and lies at an offset.
func (w *written) add(g *groups, packed []byte, off int64) {
	if g.n == 0 {
		return
	}
	w.sections = append(w.sections, section{off, uint32(len(packed)), crc32.Checksum(packed, schema.Castagnoli)})
	w.n += g.n
	w.rows += g.rows
	w.bytes += int64(len(g.thrift))
}

// each calls f with the row groups of each commit, one after the other, and returns the
// first error.
func (w *written) each(file io.ReaderAt, f func(thrift []byte) error) error {
	for _, s := range w.sections {
		if err := w.read(file, s); err != nil {
			return fmt.Errorf("read row groups at %d: %w", s.off, err)
		}
		if err := f(w.thrift); err != nil {
			return err
		}
	}
	return nil
}

// read gets the row groups of a commit back.
func (w *written) read(file io.ReaderAt, s section) (err error) {
	w.packed = slices.Grow(w.packed[:0], int(s.n))[:s.n]
	if _, err := file.ReadAt(w.packed, s.off); err != nil {
		return err
	}
	if crc32.Checksum(w.packed, schema.Castagnoli) != s.crc {
		return errChanged
	}
	w.thrift, err = w.unzip.DecodeAll(w.packed[4:], w.thrift[:0])
	return err
}

func (w *written) close() {
	w.zip.Close()
	w.unzip.Close()
	*w = written{n: w.n, rows: w.rows, bytes: w.bytes}
}
