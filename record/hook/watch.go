package hook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/record/perfring"
	"netrec/record/reader"
)

// watch is told by the kernel of every file whose code is mapped into a process, through
// a ring of perf per CPU. It costs nothing until a program is started or loads a library.
type watch struct {
	cpus   []*perfring.Ring
	wakeup int // eventfd that ends wait
	poll   []unix.PollFd
}

// ringPages is the size of a ring: messages are some 150 bytes, a program has ten.
const ringPages = 16

func newWatch() (w *watch, err error) {
	cpus, err := perfring.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	w = &watch{}
	defer func() {
		if err != nil {
			_ = w.close()
			w = nil
		}
	}()
	if w.wakeup, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return w, fmt.Errorf("create an eventfd: %w", err)
	}
	w.poll = []unix.PollFd{{Fd: int32(w.wakeup), Events: unix.POLLIN}}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Wakeup: 1,
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitWatermark}
	for _, cpu := range cpus {
		r, err := perfring.Open(cpu, attr, ringPages)
		if errors.Is(err, unix.ENODEV) {
			continue // went offline meanwhile
		}
		if err != nil {
			return w, fmt.Errorf("cpu %d: %w", cpu, err)
		}
		w.cpus = append(w.cpus, r)
		w.poll = append(w.poll, unix.PollFd{Fd: int32(r.FD()), Events: unix.POLLIN})
	}
	return w, nil
}

// wait returns true when there are messages, false when the watch has been stopped.
func (w *watch) wait() bool {
	for {
		_, err := unix.Poll(w.poll, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && w.poll[0].Revents == 0
	}
}

func (w *watch) stop() error {
	if _, err := unix.Write(w.wakeup, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return fmt.Errorf("stop watching for libraries: %w", err)
	}
	return nil
}

func (w *watch) close() error {
	var errs []error
	for _, r := range w.cpus {
		errs = append(errs, r.Close())
	}
	if w.wakeup > 0 {
		errs = append(errs, unix.Close(w.wakeup))
	}
	return errors.Join(errs...)
}

// take reads all messages and keeps those about C libraries.
func (w *watch) take(lost *bool) (out []reader.Mapping) {
	for _, r := range w.cpus {
		r.Each(func(kind uint32, _ uint16, msg []byte) {
			switch kind {
			case unix.PERF_RECORD_LOST:
				*lost = true
			case unix.PERF_RECORD_MMAP2:
				if m, ok := parseMmap2(msg); ok {
					out = append(out, m)
				}
			}
		})
	}
	return out
}

// mmap2 is the fixed part of a message: process and thread, addresses, place in the
// file, file system, file and its generation, protection and flags.
type mmap2 struct {
	Pid, Tid       uint32
	Addr, Len, Off uint64
	Major, Minor   uint32
	Ino, Gen       uint64
	Prot, Flags    uint32
}

const mmap2Size = int(unsafe.Sizeof(mmap2{}))

// parseMmap2 is false for other files than C libraries.
func parseMmap2(msg []byte) (m reader.Mapping, ok bool) {
	if len(msg) <= mmap2Size {
		return m, false
	}
	path, _, _ := bytes.Cut(msg[mmap2Size:], []byte{0})
	if !reader.IsLibc(string(path)) {
		return m, false
	}
	var h mmap2
	if _, err := binary.Decode(msg, binary.NativeEndian, &h); err != nil {
		return m, false
	}
	return reader.Mapping{Pid: h.Pid, Span: fmt.Sprintf("%x-%x", h.Addr, h.Addr+h.Len), Path: string(path),
		ID: reader.NumberOf(uint64(h.Major), uint64(h.Minor), h.Ino)}, true
}
