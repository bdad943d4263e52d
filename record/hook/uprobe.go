package hook

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"netrec/schema"
)

const (
	helperAttachCookie = asm.FnGetAttachCookie
	libraryPlaceholder = 0x6e65747265636c62 // see bpf/compat.h
)

// site is a program that stands in one function of every library.
type site struct {
	hook schema.Hook
	prog *ebpf.Program
}

// symbol is the function that a hook in a library names.
func symbol(h schema.Hook) string {
	_, name, _ := strings.Cut(h.Target, ":")
	return name
}

// linkLibraries attaches to the function in every C library that has it. Without any the
// hook stands all the same where it is known when one appears.
func (s *Set) linkLibraries(h schema.Hook, p *ebpf.Program) ([]io.Closer, error) {
	var links []io.Closer
	var last error
	for i, lib := range s.found {
		l, err := s.linkLibrary(lib, site{h, p}, s.conf.Ref(lib.Name))
		s.Libraries[i].Refused = refuse(s.Libraries[i].Refused, h, err)
		if err != nil {
			last = fmt.Errorf("%s: %w", lib.Name, err)
			continue
		}
		s.Libraries[i].Probed = true
		links = append(links, l...)
	}
	switch {
	case len(links) > 0:
	case last != nil:
		return nil, last
	case s.watch == nil:
		return nil, errors.New("no C library found on this host")
	}
	s.sites = append(s.sites, site{h, p})
	return links, nil
}

// linkLibrary attaches one program in one library, which rows shall name by ref.
func (s *Set) linkLibrary(lib *Library, at site, ref uint32) ([]io.Closer, error) {
	ex, off, err := lib.place(symbol(at.hook))
	if err != nil {
		return nil, err
	}
	o := &link.UprobeOptions{Address: off} // where it is given, nobody reads the file
	if s.cookie {
		o.Cookie = uint64(ref)
	}
	// Without cookies and the object to copy from, as in the helper, rows cannot name it.
	if s.cookie || s.base == nil || at.hook.Kind == schema.Uretprobe {
		l, err := probeLibrary(ex, at.hook, at.prog, o)
		if err != nil {
			return nil, err
		}
		return []io.Closer{l}, nil
	}
	p, err := s.copyFor(at.hook.Prog, ref)
	if err != nil {
		return nil, err
	}
	l, err := probeLibrary(ex, at.hook, p, o)
	if err != nil {
		p.Close()
		return nil, err
	}
	return []io.Closer{l, p}, nil
}

func probeLibrary(ex *link.Executable, h schema.Hook, p *ebpf.Program, o *link.UprobeOptions) (link.Link, error) {
	if h.Kind == schema.Uretprobe {
		return ex.Uretprobe("", p, o)
	}
	return ex.Uprobe("", p, o)
}

// copyFor loads a program again that knows its library, for kernels without cookies.
func (s *Set) copyFor(name string, ref uint32) (*ebpf.Program, error) {
	prog := s.base.Programs[name].Copy()
	setLibrary(prog, ref)
	return s.loadProgram(prog)
}

// setLibrary puts a library in the place of the constant; 0 is none.
func setLibrary(prog *ebpf.ProgramSpec, ref uint32) {
	for i := range prog.Instructions {
		ins := &prog.Instructions[i]
		if ins.OpCode == asm.LoadImmOp(asm.DWord) && ins.Constant == libraryPlaceholder {
			ins.Constant = int64(ref)
		}
	}
}
