package symbol

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"netrec/schema/objfile"
)

// bpfModule is what kallsyms has in place of a module for the code of BPF.
const bpfModule = "[bpf]"

// maxEntry is how far behind its beginning a function calls a trampoline: a landing pad
// and a call, on x86 nine bytes.
const maxEntry = 16

// ReadBPF reads again which code is of BPF: that of the recorder's own probes came after
// the kernel's symbols were loaded. It must not be called while names are asked for.
func (k *Kernel) ReadBPF() error {
	if k == nil {
		return nil
	}
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return fmt.Errorf("code of BPF: %w", err)
	}
	defer f.Close()
	if k.bpf, err = parseBPF(f); err != nil {
		return fmt.Errorf("code of BPF: %w", err)
	}
	return nil
}

// parseBPF reads the lines of kallsyms that are about BPF.
func parseBPF(r io.Reader) (t objfile.Table, err error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		line, ok := bytes.CutSuffix(s.Bytes(), []byte("\t"+bpfModule))
		if !ok {
			continue
		}
		f := bytes.SplitN(line, []byte{' '}, 3)
		a, err := strconv.ParseUint(string(f[0]), 16, 64)
		if err == nil && a != 0 && len(f) == 3 && !t.Add(a, 0, 0, f[2]) {
			break
		}
	}
	t.Sort()
	return t, s.Err()
}

// find is the function that covers an address; nil where code of BPF does, which lies
// between modules and has no size in kallsyms.
func (k *Kernel) find(at uint64) *objfile.Entry {
	e := k.table.Find(at)
	if b := k.bpf.Find(at); b != nil && (e == nil || b.Addr >= e.Addr) {
		return nil
	}
	return e
}

// hidden marks the frames of a stack, innermost first, that are there because somebody
// looks: programs and trampolines of BPF, and the beginning of a function whose
// trampoline has called the rest of it, which would stand there twice. at is where the
// calls are, addrs the frames themselves.
func (k *Kernel) hidden(at, addrs []uint64) []bool {
	skip := make([]bool, len(addrs))
	if k == nil {
		return skip
	}
	inner := (*objfile.Entry)(nil) // the function inside of frame i
	for i := range addrs {
		e := k.find(at[i])
		if e == nil {
			skip[i] = k.bpf.Find(at[i]) != nil
			continue
		}
		if i > 0 && inner != nil && inner.Addr == e.Addr && addrs[i]-e.Addr <= maxEntry && k.find(at[i-1]) == nil {
			skip[i-1], skip[i] = true, true
		}
		inner = e
	}
	if !slices.Contains(skip, false) { // a sample of the probes themselves, where no more could be walked
		clear(skip)
	}
	return skip
}
