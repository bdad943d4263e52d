package reader

import (
	"encoding/json"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/fence"
	"netrec/record/priv"
)

// processName is the argv[0] by which the program knows that it is the reader.
const processName = "netrec: reading files"

// Patience is how long an answer about one file is waited for.
const Patience = 3 * time.Second

// Bounds of the process's memory: what its caches and the largest tables need, and beyond
// that its end.
const (
	softMemory = 256 << 20
	hardMemory = 1 << 30
)

// leanGC is how far the heap may grow between two collections, in percent: questions are few.
const leanGC = 40

// Questions.
const (
	askCandidates = "candidates"
	askLibrary    = "library"
	askNames      = "names"
	askOwners     = "owners"
)

// Reader asks the process.
type Reader struct{ process *fence.Process }

// Start starts the process. It keeps, of the privileges of this moment, those that open
// other users' files for reading.
func Start() (*Reader, error) {
	p, err := fence.Start(processName)
	if err != nil {
		return nil, err
	}
	return &Reader{p}, nil
}

// Pid is the process, 0 for none.
func (r *Reader) Pid() uint32 {
	if r == nil {
		return 0
	}
	return uint32(r.process.Pid())
}

// Stop ends the process.
func (r *Reader) Stop() {
	if r != nil {
		r.process.Stop()
	}
}

// Init must be called first in main. In the process of Start it does not return; in any
// other it does nothing.
func Init() { fence.Serve(processName, ready) }

// ready gives up what reading does not take.
//
// Landlock would fit, and cannot be: whoever is in it may not look at processes outside, not
// even at their files in /proc.
func ready() (map[string]fence.Handler, error) {
	debug.SetMemoryLimit(softMemory)
	debug.SetGCPercent(leanGC)
	limit := unix.Rlimit{Cur: hardMemory, Max: hardMemory}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return nil, err
	}
	watched := execsOrNone()
	// CAP_CHECKPOINT_RESTORE follows the kernel's own links to mapped files, also deleted ones.
	if err := priv.Drop(priv.SysPtrace, priv.DACReadSearch, priv.CheckpointRestore); err != nil {
		return nil, err
	}
	if err := fence.Allow(fence.Reading); err != nil {
		return nil, err
	}
	return map[string]fence.Handler{
		askCandidates: handle(candidates),
		askLibrary:    handleFile(library),
		askNames:      handle(namer(watched)),
		askOwners:     handle(owners),
	}, nil
}

// handle makes a handler of a function of plain values.
func handle[Q, A any](f func(Q) (A, error)) fence.Handler {
	return func(question json.RawMessage, _ []*os.File) (any, []*os.File, error) {
		var q Q
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, nil, err
		}
		a, err := f(q)
		return a, nil, err
	}
}

// handleFile is handle for an answer that a file comes with.
func handleFile[Q, A any](f func(Q) (A, *os.File, error)) fence.Handler {
	return func(question json.RawMessage, _ []*os.File) (any, []*os.File, error) {
		var q Q
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, nil, err
		}
		a, file, err := f(q)
		if err != nil || file == nil {
			return a, nil, err
		}
		return a, []*os.File{file}, nil
	}
}
