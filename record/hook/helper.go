package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"

	"netrec/record/fence"
	"netrec/record/priv"
	"netrec/record/reader"
	"netrec/schema"
)

// The helper is a process beside the recorder that keeps the privilege to probe files. It
// does one thing: given a C library, open, and where its functions are, it attaches the
// programs that it was given first. It reads no events, opens and writes no file, loads no
// program, and ends with the recorder.

// helperName is the argv[0] by which the program knows that it is the helper.
const helperName = "netrec: probing libraries"

// Questions to the helper; the first must be askOrders.
const (
	askOrders = "orders"
	askProbe  = "probe"
)

// orders are what to attach: programs come along in this order.
type orders struct {
	Hooks   []schema.Hook
	Cookies bool
}

// request is a library; its file comes along.
type request struct {
	Offsets map[string]uint64 // of its functions
	Ref     uint32            // how rows shall name it
}

// reply is what became of it.
type reply struct{ Refused []schema.Refusal }

// helper is the recorder's side.
type helper struct{ process *fence.Process }

func startHelper(sites []site, cookies bool) (*helper, error) {
	o := orders{Cookies: cookies}
	var files []*os.File
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
	p, err := fence.Start(helperName)
	if err != nil {
		return nil, err
	}
	if _, err := p.Ask(reader.Patience, askOrders, &o, &reply{}, files...); err != nil {
		p.Stop()
		return nil, err
	}
	return &helper{p}, nil
}

// probe has a library probed.
func (h *helper) probe(lib *Library, ref uint32) (answer reply, err error) {
	_, err = h.process.Ask(reader.Patience, askProbe, &request{lib.offsets, ref}, &answer, lib.file)
	return answer, err
}

// Init must be called first in main. In a process made by StartHelper it does not return;
// in any other it does nothing.
func Init() { fence.Serve(helperName, helpReady) }

// helpReady makes the helper. CAP_SYS_ADMIN is what probes in files take since 6.16, the
// others what they took before.
func helpReady() (map[string]fence.Handler, error) {
	// Whoever is not root cannot ask for it: it is read from this process's own memory.
	if _, err := features.LinuxVersionCode(); err != nil {
		return nil, err
	}
	if err := priv.Drop(priv.SysAdmin, priv.Perfmon, priv.BPF); err != nil {
		return nil, err
	}
	w := &worker{set: &Set{}}
	return map[string]fence.Handler{askOrders: w.begin, askProbe: w.probe}, fence.Deny()
}

// worker attaches, and holds what it has attached.
type worker struct {
	set   *Set
	mu    sync.Mutex // a library that hangs keeps no other from its probes
	links []io.Closer
}

func (w *worker) begin(question json.RawMessage, files []*os.File) (any, []*os.File, error) {
	var o orders
	if err := json.Unmarshal(question, &o); err != nil {
		return nil, nil, err
	}
	if len(files) != len(o.Hooks) || w.set.sites != nil {
		return nil, nil, fmt.Errorf("%d programs for %d hooks", len(files), len(o.Hooks))
	}
	w.set.cookie = o.Cookies
	for i, h := range o.Hooks {
		fd, err := syscall.Dup(int(files[i].Fd()))
		if err != nil {
			return nil, nil, err
		}
		p, err := ebpf.NewProgramFromFD(fd)
		if err != nil {
			return nil, nil, fmt.Errorf("program %s: %w", h.Prog, err)
		}
		w.set.sites = append(w.set.sites, site{h, p})
	}
	return reply{}, nil, nil
}

func (w *worker) probe(question json.RawMessage, files []*os.File) (any, []*os.File, error) {
	var r request
	if err := json.Unmarshal(question, &r); err != nil {
		return nil, nil, err
	}
	if len(files) != 1 {
		return nil, nil, fmt.Errorf("%d files for one library", len(files))
	}
	var out reply
	for _, at := range w.set.sites {
		l, err := w.set.linkLibrary(&Library{file: files[0], offsets: r.Offsets}, at, r.Ref)
		w.mu.Lock()
		w.links = append(w.links, l...)
		w.mu.Unlock()
		out.Refused = refuse(out.Refused, at.hook, err)
	}
	return out, nil, nil
}
