package reader

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"netrec/record/fence"
	"netrec/record/symbol"
	"netrec/schema"
)

// naming is how long names are waited for: longer than a process that is read for the first
// time may take, beside files that do not answer.
const naming = 20 * time.Second

// Bounds of what is exchanged.
const (
	maxPrograms = 4096 // that the recorder remembers
	maxListed   = 64   // objects that come with one answer
)

// Names asks the process for the names of addresses; it is a symbol.Namer. Where the process
// has ended, addresses stay addresses.
type Names struct {
	reader  *Reader
	trouble atomic.Pointer[error]

	mu       sync.Mutex
	programs map[int32]program
	objects  []schema.Object
}

// program is which one a process ran, and from when to when that is known, monotonic ns.
type program struct{ Gen, Since, Until uint64 }

// Names begins to ask for names.
func (r *Reader) Names() *Names { return &Names{reader: r, programs: map[int32]program{}} }

// namesQuestion are addresses in a process; without any, which program it runs is all that
// is asked.
type namesQuestion struct {
	Pid   int32
	TS    uint64   // when it had them, monotonic ns
	At    []uint64 `json:",omitempty"` // where the code is whose name is wanted
	Addrs []uint64 `json:",omitempty"` // what the name says
	Known int      // how many objects the recorder has heard of
}

type namesReply struct {
	Program  program
	Names    []string
	Complete bool
	Objects  []schema.Object // that the recorder has not heard of
}

// Program is the number of the program in a process at a time. The answer holds for all times
// before it was asked, back to when the program began, so stacks of one commit ask once.
func (n *Names) Program(pid int32, ts uint64) (gen, since, until uint64) {
	n.mu.Lock()
	p, ok := n.programs[pid]
	n.mu.Unlock()
	if !ok || ts < p.Since || ts > p.Until {
		a, _ := n.ask(namesQuestion{Pid: pid, TS: ts})
		p = a.Program
	}
	return p.Gen, p.Since, p.Until
}

// Frames names addresses, nil if they have to stay what they are.
func (n *Names) Frames(pid int32, ts uint64, at, addrs []uint64) (names []string, complete bool) {
	a, ok := n.ask(namesQuestion{Pid: pid, TS: ts, At: at, Addrs: addrs})
	if !ok || len(a.Names) != len(addrs) {
		return nil, false
	}
	return a.Names, a.Complete
}

// ask remembers what else an answer says.
func (n *Names) ask(q namesQuestion) (a namesReply, ok bool) {
	if n.trouble.Load() != nil {
		return a, false
	}
	n.mu.Lock()
	q.Known = len(n.objects)
	n.mu.Unlock()
	if _, err := n.reader.process.Ask(naming, askNames, q, &a); err != nil {
		if gone := (*fence.GoneError)(nil); errors.As(err, &gone) || errors.Is(err, fence.ErrStuck) {
			n.trouble.CompareAndSwap(nil, &err)
		}
		return a, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.programs) >= maxPrograms {
		clear(n.programs)
	}
	n.programs[q.Pid] = a.Program
	if len(n.objects) == q.Known { // else another goroutine has heard of them first
		n.objects = append(n.objects, a.Objects...)
	}
	return a, true
}

// Objects is the files that frames were found in, if they are more than those known. The
// list only grows, and the caller must not change it.
func (n *Names) Objects(known int) []schema.Object {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.objects) == known {
		return nil
	}
	return n.objects[:len(n.objects):len(n.objects)]
}

// Trouble is why there are no more names, nil while there are.
func (n *Names) Trouble() error {
	if err := n.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// namer answers in the process.
func namer(x symbol.Execs) func(namesQuestion) (namesReply, error) {
	user := symbol.NewWatching(x)
	return func(q namesQuestion) (a namesReply, err error) {
		if len(q.At) != len(q.Addrs) {
			return a, errors.New("addresses without places")
		}
		p := &a.Program
		p.Gen, p.Since, p.Until = user.Program(q.Pid, q.TS)
		if len(q.At) > 0 {
			a.Names, a.Complete = user.Frames(q.Pid, q.TS, q.At, q.Addrs)
		}
		if list := user.Objects(q.Known); q.Known >= 0 && len(list) > q.Known {
			a.Objects = list[q.Known:min(len(list), q.Known+maxListed)]
		}
		return a, nil
	}
}
