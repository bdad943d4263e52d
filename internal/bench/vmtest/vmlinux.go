package vmtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/klauspost/compress/zstd"
)

// maxImage bounds a kernel image, packed and unpacked: Debian's are under
// 100 MB.
const maxImage = 512 << 20

// Offsets in the setup header of a bzImage (boot protocol 2.08 and later).
const (
	bzSetupSects    = 0x1f1
	bzMagic         = 0x202
	bzVersion       = 0x206
	bzPayloadOffset = 0x248
	bzPayloadLength = 0x24c
	bzHeaderEnd     = 0x250
)

// extractVmlinux gives the ELF kernel inside a bzImage. Booting it directly
// (through its PVH note) saves the guest seconds of emulated decompression.
func extractVmlinux(ctx context.Context, bz []byte) ([]byte, error) {
	packed, err := bzPayload(bz)
	if err != nil {
		return nil, err
	}
	elf, err := decompress(ctx, packed)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(elf, []byte("\x7fELF")) {
		return nil, errors.New("payload is not an ELF file")
	}
	return elf, nil
}

// bzPayload cuts the compressed kernel out of a bzImage.
func bzPayload(bz []byte) ([]byte, error) {
	if len(bz) < bzHeaderEnd || string(bz[bzMagic:bzMagic+4]) != "HdrS" {
		return nil, errors.New("not a bzImage")
	}
	le := binary.LittleEndian
	if v := le.Uint16(bz[bzVersion:]); v < 0x208 {
		return nil, fmt.Errorf("boot protocol %#x has no payload field", v)
	}
	sects := uint64(bz[bzSetupSects])
	if sects == 0 {
		sects = 4
	}
	start := (sects+1)*512 + uint64(le.Uint32(bz[bzPayloadOffset:]))
	end := start + uint64(le.Uint32(bz[bzPayloadLength:]))
	if end > uint64(len(bz)) || end-start < 8 {
		return nil, fmt.Errorf("payload at %d–%d of a %d byte image", start, end, len(bz))
	}
	return bz[start:end], nil
}

// decompress unpacks a kernel payload. The kernel's build appends
// four bytes of unpacked size to every payload except gzip, which the
// decompressors must not see.
func decompress(ctx context.Context, packed []byte) ([]byte, error) {
	sized := packed[:len(packed)-4]
	switch {
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("decompressing gzip: %w", err)
		}
		r.Multistream(false)
		return readLimited("gzip", r)
	case bytes.HasPrefix(packed, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(sized), zstd.WithDecoderMaxWindow(1<<31))
		if err != nil {
			return nil, fmt.Errorf("decompressing zstd: %w", err)
		}
		defer r.Close()
		return readLimited("zstd", r)
	case bytes.HasPrefix(packed, []byte("\xfd7zXZ\x00")):
		return filter(ctx, packed, "xz", "-dc", "--single-stream")
	case bytes.HasPrefix(packed, []byte{0x02, 0x21, 0x4c, 0x18}):
		return filter(ctx, sized, "lz4", "-dc")
	}
	return nil, fmt.Errorf("unknown compression, first bytes % x", packed[:6])
}

func readLimited(format string, r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, maxImage))
	if err != nil {
		return nil, fmt.Errorf("decompressing %s: %w", format, err)
	}
	return out, nil
}

// filter sends data through a program.
func filter(ctx context.Context, data []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(data)
	return runCommand(cmd)
}
