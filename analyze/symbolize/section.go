package symbolize

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"netrec/schema/objfile"
)

// section reads a section of debug information, as it is or unpacked; nil if there is none.
func section(f *objfile.File, name string, most uint64) ([]byte, error) {
	s, ok := f.Section(".debug_" + name)
	if !ok {
		if s, ok = f.Section(".zdebug_" + name); ok {
			return old(f, s, most)
		}
		return nil, nil
	}
	if s.Size > most {
		return nil, tooLarge(name, s.Size, most)
	}
	b, err := f.Bytes(s.Offset, s.Size)
	if err != nil || !s.Compressed {
		return b, err
	}
	kind, size, body, err := header(b, s.Wide)
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, tooLarge(name, size, most)
	}
	switch kind {
	case elf.COMPRESS_ZLIB:
		return unzip(body, size)
	case elf.COMPRESS_ZSTD:
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return exactly(z, size)
	default:
		return nil, fmt.Errorf("section %s: compressed by %v", name, kind)
	}
}

// header takes the header from a compressed section: kind, size when unpacked, alignment;
// 64-bit files have four bytes of nothing behind the kind.
func header(b []byte, wide bool) (kind elf.CompressionType, size uint64, body io.Reader, err error) {
	le, n := binary.LittleEndian, 12
	if wide {
		n = 24
	}
	if len(b) < n {
		return 0, 0, nil, errors.New("compressed section without its header")
	}
	size = uint64(le.Uint32(b[4:]))
	if wide {
		size = le.Uint64(b[8:])
	}
	return elf.CompressionType(le.Uint32(b)), size, bytes.NewReader(b[n:]), nil
}

// old reads a section as it was compressed before ELF had a word for it: ZLIB, the size
// with its greatest byte first, data.
func old(f *objfile.File, s objfile.Section, most uint64) ([]byte, error) {
	const header = 12
	if s.Size > most {
		return nil, tooLarge("zdebug", s.Size, most)
	}
	b, err := f.Bytes(s.Offset, s.Size)
	if err != nil {
		return nil, err
	}
	if len(b) < header || string(b[:4]) != "ZLIB" {
		return nil, errors.New("compressed section without its mark")
	}
	size := binary.BigEndian.Uint64(b[4:])
	if size > most {
		return nil, tooLarge("zdebug", size, most)
	}
	return unzip(bytes.NewReader(b[header:]), size)
}

func unzip(r io.Reader, size uint64) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	return exactly(z, size)
}

// exactly reads so many bytes; memory grows with what comes, not with what was promised.
func exactly(r io.Reader, size uint64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(size)); err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return b.Bytes(), nil
}

func tooLarge(name string, size, most uint64) error {
	return fmt.Errorf("debug information too large: %d bytes of %s, limit %d", size, name, most)
}
