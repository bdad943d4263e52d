package rig

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Served is a file system with one file, which this process serves, and may stop to. It
// speaks just enough of FUSE for the file to be opened, read and mapped.
type Served struct {
	Path    string // of the file
	dir     string
	content []byte
	dev     *os.File
	hung    atomic.Bool
}

// Operations of FUSE, and sizes of what they exchange (linux/fuse.h).
const (
	fuseLookup, fuseForget, fuseGetattr  = 1, 2, 3
	fuseOpen, fuseRead, fuseStatfs       = 14, 15, 17
	fuseRelease, fuseFlush, fuseInit     = 18, 25, 26
	fuseOpendir, fuseInterrupt           = 27, 36
	fuseInHeader, fuseOutHeader          = 40, 16
	fuseRoot, fuseFile                   = 1, 2 // nodes
	fuseMinor                            = 31
	fuseRequest                          = 1 << 17
	fuseAttrSize, fuseAttrOut, fuseEntry = 88, 104, 128
)

// Serve mounts the file system on an empty directory.
func Serve(dir, name string, content []byte) (*Served, error) {
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &Served{Path: filepath.Join(dir, name), dir: dir, content: content, dev: dev}
	opts := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev.Fd())
	if err := unix.Mount("netrec-test", dir, "fuse.netrec-test", unix.MS_NODEV|unix.MS_NOSUID, opts); err != nil {
		dev.Close()
		return nil, fmt.Errorf("mount FUSE on %s: %w", dir, err)
	}
	go s.run()
	return s, nil
}

// Hang lets every further question to the file system wait until Close.
func (s *Served) Hang() { s.hung.Store(true) }

// Close ends the file system, and every wait for it.
func (s *Served) Close() {
	_ = unix.Unmount(s.dir, unix.MNT_DETACH)
	s.dev.Close()
}

func (s *Served) run() {
	b := make([]byte, fuseRequest)
	for {
		n, err := unix.Read(int(s.dev.Fd()), b)
		if err == unix.EINTR || err == unix.ENOENT {
			continue
		}
		if err != nil || n < fuseInHeader {
			return
		}
		op, id, node := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
		if s.hung.Load() || op == fuseForget || op == fuseInterrupt {
			continue
		}
		body, errno := s.answer(op, node, b[fuseInHeader:n])
		out := make([]byte, fuseOutHeader, fuseOutHeader+len(body))
		binary.LittleEndian.PutUint32(out, uint32(fuseOutHeader+len(body)))
		binary.LittleEndian.PutUint32(out[4:], uint32(-int32(errno)))
		binary.LittleEndian.PutUint64(out[8:], id)
		_, _ = unix.Write(int(s.dev.Fd()), append(out, body...))
	}
}

func (s *Served) answer(op uint32, node uint64, in []byte) ([]byte, unix.Errno) {
	switch op {
	case fuseInit:
		out := make([]byte, 64)
		binary.LittleEndian.PutUint32(out, 7)
		binary.LittleEndian.PutUint32(out[4:], fuseMinor)
		return out, 0
	case fuseLookup:
		if string(in[:len(in)-1]) != filepath.Base(s.Path) {
			return nil, unix.ENOENT
		}
		out := make([]byte, fuseEntry-fuseAttrSize, fuseEntry)
		binary.LittleEndian.PutUint64(out, fuseFile)
		return append(out, s.attr(fuseFile)...), 0
	case fuseGetattr:
		return append(make([]byte, fuseAttrOut-fuseAttrSize), s.attr(node)...), 0
	case fuseOpen, fuseOpendir:
		return make([]byte, 16), 0
	case fuseRead:
		off := min(binary.LittleEndian.Uint64(in[8:]), uint64(len(s.content)))
		return s.content[off:min(off+uint64(binary.LittleEndian.Uint32(in[16:])), uint64(len(s.content)))], 0
	case fuseStatfs:
		return make([]byte, 80), 0
	case fuseRelease, fuseFlush:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

// attr is struct fuse_attr of the directory or of the file.
func (s *Served) attr(node uint64) []byte {
	b := make([]byte, fuseAttrSize)
	size, mode := uint64(0), uint32(unix.S_IFDIR|0o755)
	if node == fuseFile {
		size, mode = uint64(len(s.content)), unix.S_IFREG|0o755
	}
	binary.LittleEndian.PutUint64(b, node)
	binary.LittleEndian.PutUint64(b[8:], size)
	binary.LittleEndian.PutUint32(b[60:], mode)
	binary.LittleEndian.PutUint32(b[64:], 1) // links
	return b
}
