package capture

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
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

// written is what the file holds so far. A row group takes ten kilobytes of metadata, mostly
// names and places of columns that it lacks; compressed, thousands of them are a few megabytes.
type written struct {
	packed [][]byte // section of each commit that has row groups
	n      int
	rows   int64
	bytes  int64 // of Thrift
	zip    *zstd.Encoder
	unzip  *zstd.Decoder
}

func newWritten() (written, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return written{}, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return written{zip: zip, unzip: unzip}, err
}

// pack makes the section of a checkpoint that has the row groups.
func (w *written) pack(g *groups) []byte {
	return w.zip.EncodeAll(g.thrift, binary.LittleEndian.AppendUint32(nil, uint32(len(g.thrift))))
}

// add notes the row groups of a commit, whose section is packed.
func (w *written) add(g *groups, packed []byte) {
	if g.n == 0 {
		return
	}
	w.packed = append(w.packed, packed)
	w.n += g.n
	w.rows += g.rows
	w.bytes += int64(len(g.thrift))
}

// each calls f with the row groups of each commit, one after the other, and returns the
// first error.
func (w *written) each(f func(thrift []byte) error) error {
	var buf []byte
	for _, p := range w.packed {
		var err error
		if buf, err = w.unzip.DecodeAll(p[4:], buf[:0]); err != nil {
			return fmt.Errorf("unpacking row groups: %w", err) // memory is broken
		}
		if err := f(buf); err != nil {
			return err
		}
	}
	return nil
}

func (w *written) close() {
	w.zip.Close()
	w.unzip.Close()
}
