package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/cilium/ebpf"

	"netrec/record/priv"
	"netrec/schema"
)

// The helper is a process beside the recorder that keeps the privilege to probe files. It
// does one thing: told of a process and a C library that it has mapped, it attaches the
// programs that it was born with. It reads no events, writes no file, loads no program,
// and ends with the recorder.

// helperName is the argv[0] by which the program knows that it is the helper.
const helperName = "netrec: probing libraries"

// Descriptors of the helper; programs follow.
const (
	requestFD = 3
	replyFD   = 4
	progFD    = 5
)

// orders are the helper's first message: what to attach, in the order of its descriptors.
type orders struct {
	Hooks   []schema.Hook
	Cookies bool
	Known   []inode // files that have their probes
}

// request is a library in the memory of a process.
type request struct {
	Pid  uint32
	Span string // addresses of its code
	Path string
	Ref  uint32 // how rows shall name it
}

// reply is what became of it.
type reply struct {
	Gone    bool // the process has ended, or the file is out of reach
	Known   bool // it had its probes already
	Refused []schema.Refusal
}

// helper is the recorder's side.
type helper struct {
	cmd *exec.Cmd
	out *json.Encoder
	in  *json.Decoder
	end io.Closer
}

func startHelper(sites []site, cookies bool, libs *libraries) (*helper, error) {
	o := orders{Cookies: cookies}
	for id := range libs.seen {
		o.Known = append(o.Known, id)
	}
	requestR, requestW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer requestR.Close()
	replyR, replyW, err := os.Pipe()
	if err != nil {
		requestW.Close()
		return nil, err
	}
	defer replyW.Close()
	files := []*os.File{requestFD - 3: requestR, replyFD - 3: replyW}
	for _, at := range sites {
		fd, err := syscall.Dup(at.prog.FD())
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), at.hook.Prog)
		defer f.Close()
		files = append(files, f)
		o.Hooks = append(o.Hooks, at.hook)
	}
	h := &helper{cmd: &exec.Cmd{Path: "/proc/self/exe", Args: []string{helperName}, Stderr: os.Stderr, ExtraFiles: files},
		out: json.NewEncoder(requestW), in: json.NewDecoder(replyR), end: requestW}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	var ready reply
	if err := h.out.Encode(&o); err != nil {
		return nil, err
	}
	if err := h.in.Decode(&ready); err != nil {
		return nil, fmt.Errorf("it ended: %w", h.stop())
	}
	return h, nil
}

// ask sends a request and waits for its reply.
func (h *helper) ask(r request) (reply, error) {
	var answer reply
	if err := h.out.Encode(&r); err != nil {
		return answer, err
	}
	return answer, h.in.Decode(&answer)
}

// stop ends the helper, and with it its probes.
func (h *helper) stop() error {
	h.end.Close()
	return h.cmd.Wait()
}

// Init must be called first in main. In a process made by StartHelper it does not return;
// in any other it does nothing.
func Init() {
	if len(os.Args) != 1 || os.Args[0] != helperName {
		return
	}
	if err := help(os.NewFile(requestFD, "requests"), os.NewFile(replyFD, "replies")); err != nil {
		fmt.Fprintf(os.Stderr, "netrec: helper for libraries: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// help is the helper: it serves until the recorder is gone.
func help(requests io.Reader, replies io.Writer) error {
	in, out := json.NewDecoder(requests), json.NewEncoder(replies)
	var o orders
	if err := in.Decode(&o); err != nil {
		return fmt.Errorf("orders: %w", err)
	}
	w := &worker{set: &Set{cookie: o.Cookies, libs: newLibraries()}}
	for _, id := range o.Known {
		w.set.libs.seen[id] = true
	}
	for i, h := range o.Hooks {
		p, err := ebpf.NewProgramFromFD(progFD + i)
		if err != nil {
			return fmt.Errorf("program %s: %w", h.Prog, err)
		}
		w.set.sites = append(w.set.sites, site{h, p})
	}
	// CAP_SYS_ADMIN is what probes in files take; the others open them.
	if err := priv.Drop(priv.SysAdmin, priv.SysPtrace, priv.DACReadSearch); err != nil {
		return err
	}
	for answer := (reply{}); ; {
		if err := out.Encode(&answer); err != nil {
			return nil // the recorder is gone
		}
		var r request
		if err := in.Decode(&r); err != nil {
			return nil
		}
		answer = w.serve(r)
	}
}

// worker attaches, and holds what it has attached.
type worker struct {
	set   *Set
	links []io.Closer
}

func (w *worker) serve(r request) (out reply) {
	if !isLibc(r.Path) {
		return reply{Gone: true} // whoever asks: no other files
	}
	lib, err := w.set.libs.mapped(fileMapped{pid: r.Pid, span: r.Span, path: r.Path})
	switch {
	case err != nil:
		return reply{Gone: true}
	case lib == nil:
		return reply{Known: true}
	}
	defer lib.file.Close()
	for _, at := range w.set.sites {
		l, err := w.set.linkLibrary(lib, at, r.Ref)
		w.links = append(w.links, l...)
		out.Refused = refuse(out.Refused, at.hook, err)
	}
	return out
}
