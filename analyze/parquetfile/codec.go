package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"netrec/analyze/words"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Inflater decompresses pages. Output never exceeds what the page header
// declares, and anything but exactly that much is an error.
type Inflater struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
	in   bytes.Reader
}

// maxZstdWindow bounds the history that a zstd frame may ask for; writers of
// Parquet stay at 8 MiB.
const maxZstdWindow = 32 << 20

// Zstd fills dst, whose length is the one to expect, from a zstd frame.
func (z *Inflater) Zstd(dst, src []byte) error { return z.inflate(codecZstd, dst, src) }

// inflate fills dst, whose length is the declared one, from src.
func (z *Inflater) inflate(codec uint8, dst, src []byte) error {
	var n int
	var err error
	switch codec {
	case codecNone:
		n = len(src)
		if n == len(dst) {
			copy(dst, src)
		}
	case codecZstd:
		n, err = z.unzstd(dst, src)
	case codecSnappy:
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case codecGzip:
		n, err = z.gunzip(dst, src)
	default:
		return fmt.Errorf("%w: codec %d", ErrUnsupport, codec)
	}
	switch {
	case err != nil:
		return fmt.Errorf("decompressing: %w", err)
	case n != len(dst):
		return fmt.Errorf("decompressing: %s where the page declares %s", words.Count(int64(n), "byte"), words.Thousands(int64(len(dst))))
	}
	return nil
}

func (z *Inflater) unzstd(dst, src []byte) (int, error) {
	if z.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return 0, err
		}
		z.zstd = d
	}
	// The capacity is the limit, and the output may not move elsewhere.
	out, err := z.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) > 0 && &out[0] != &dst[0] {
		err = errors.New("output moved")
	}
	return len(out), err
}

func (z *Inflater) gunzip(dst, src []byte) (int, error) {
	z.in.Reset(src)
	var err error
	if z.gzip == nil {
		z.gzip, err = gzip.NewReader(&z.in)
	} else {
		err = z.gzip.Reset(&z.in)
	}
	if err != nil {
		return 0, err
	}
	n, err := io.ReadFull(z.gzip, dst)
	if err != nil {
		return n, err
	}
	var more [1]byte
	switch k, err := z.gzip.Read(more[:]); {
	case k > 0:
		return n, errors.New("more bytes than the page declares")
	case err != nil && err != io.EOF:
		return n, err
	}
	return n, nil
}

// Close frees what the decompressors hold.
func (z *Inflater) Close() {
	if z.zstd != nil {
		z.zstd.Close()
	}
}
