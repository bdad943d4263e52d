package vmtest

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed guest/early.sh
var earlyScript []byte

// File modes as cpio wants them: type and permissions.
const (
	cpioDir  = 0o040755
	cpioExec = 0o100755
	cpioFile = 0o100644
	cpioLink = 0o120777
	cpioChar = 0o020600
)

// initramfs makes the guest's first root: busybox, the early modules and the
// script that finds the real root.
func initramfs(img image, k Kernel) ([]byte, error) {
	busybox, err := os.ReadFile(img.busybox())
	if err != nil {
		return nil, fmt.Errorf("reading the guest's busybox: %w", err)
	}
	w := &cpioWriter{}
	for _, d := range []string{"bin", "dev", "early", "proc", "ro", "root", "rw"} {
		w.add(d, cpioDir, nil)
	}
	w.add("bin/busybox", cpioExec, busybox)
	for _, applet := range []string{"sh", "mount", "mkdir", "insmod", "switch_root"} {
		w.add("bin/"+applet, cpioLink, []byte("busybox"))
	}
	w.add("dev/console", cpioChar, nil)
	modules, err := filepath.Glob(filepath.Join(k.dir, "early", "*.ko"))
	if err != nil {
		return nil, fmt.Errorf("listing early modules: %w", err)
	}
	for _, path := range modules {
		ko, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading an early module: %w", err)
		}
		w.add("early/"+filepath.Base(path), cpioFile, ko)
	}
	w.add("init", cpioExec, earlyScript)
	return w.finish(), nil
}

// cpioWriter writes the "newc" format, the one the kernel reads.
type cpioWriter struct {
	buf   bytes.Buffer
	inode int
}

// add appends an entry. A link's body is its target; a device is always the
// console (5, 1), the only one an initramfs has to bring.
func (w *cpioWriter) add(name string, mode int, body []byte) {
	w.inode++
	major, minor := 0, 0
	if mode == cpioChar {
		major, minor = 5, 1
	}
	fmt.Fprintf(&w.buf, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		w.inode, mode, 0, 0, 1, 0, len(body), 0, 0, major, minor, len(name)+1, 0)
	w.buf.WriteString(name)
	w.buf.WriteByte(0)
	w.pad()
	w.buf.Write(body)
	w.pad()
}

func (w *cpioWriter) pad() {
	for w.buf.Len()%4 != 0 {
		w.buf.WriteByte(0)
	}
}

func (w *cpioWriter) finish() []byte {
	w.add("TRAILER!!!", 0, nil)
	return w.buf.Bytes()
}
