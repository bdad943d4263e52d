package hook

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"netrec/schema"
)

// Verifying programs takes the kernel longer than all else at the start. So the programs that
// are likely needed, those of the first rung of each event that this kernel has, are loaded
// while hooks are attached one by one.

// ahead is the programs that are being loaded before their turn.
type ahead map[loadKey]*loading

// loadKey tells programs apart: one may stand for many functions.
type loadKey struct{ prog, target string }

// loading is a program under way.
type loading struct {
	hook schema.Hook
	done chan struct{}
	prog *ebpf.Program
	err  error
}

// inOrder is the events as their hooks are attached: light, then default, then full.
// A program costs from the moment it is attached, and those of light cost least.
func inOrder(events []*schema.Event) []*schema.Event {
	rank := func(e *schema.Event) int {
		if at := slices.Index(schema.Profiles, e.Profile); at >= 0 {
			return at
		}
		return len(schema.Profiles)
	}
	return slices.SortedStableFunc(slices.Values(events), func(a, b *schema.Event) int { return rank(a) - rank(b) })
}

// loadAhead begins to load in the order of the events.
func (s *Set) loadAhead(events []*schema.Event) {
	s.ahead = ahead{}
	var queue []*loading
	for _, e := range events {
		for _, h := range s.firstUsable(e) {
			h = s.inPlace(h)
			key := loadKey{h.Prog, h.Target}
			if s.ahead[key] == nil {
				l := &loading{hook: h, done: make(chan struct{})}
				s.ahead[key], queue = l, append(queue, l)
			}
		}
	}
	next := make(chan *loading, len(queue))
	for _, l := range queue {
		next <- l
	}
	close(next)
	go func() {
		for l := range next {
			if l.err = s.conf.Enough(); l.err == nil {
				l.prog, l.err = s.load(l.hook)
			}
			close(l.done)
		}
	}()
}

// firstUsable is the hooks that climb will try first.
func (s *Set) firstUsable(e *schema.Event) []schema.Hook {
	if e.Counts() || e.Own() {
		return nil
	}
	for i := range e.Ladder {
		if u := s.usable(e, i); u.hooks != nil {
			return u.hooks
		}
	}
	return nil
}

// program is that of a hook, loaded ahead or now.
func (s *Set) program(h schema.Hook) (*ebpf.Program, error) {
	key := loadKey{h.Prog, h.Target}
	l := s.ahead[key]
	if l == nil {
		return s.load(h)
	}
	delete(s.ahead, key) // whoever asks again gets another
	<-l.done
	return l.prog, l.err
}

// load loads the program of a hook.
func (s *Set) load(h schema.Hook) (*ebpf.Program, error) {
	prog, ok := s.base.Programs[h.Prog]
	if !ok {
		return nil, fmt.Errorf("no program %s in the BPF object", h.Prog)
	}
	prog = prog.Copy()
	setLibrary(prog, 0)
	if h.Kind == schema.Fentry || h.Kind == schema.Fexit {
		prog.AttachTo = h.Target // one program may stand for many functions
	}
	p, err := s.loadProgram(prog)
	if err != nil {
		return nil, fmt.Errorf("load: %w", short(err))
	}
	return p, nil
}

// dropAhead frees what was loaded and is not needed after all.
func (s *Set) dropAhead() {
	for _, l := range s.ahead {
		if <-l.done; l.prog != nil {
			l.prog.Close()
		}
	}
	s.ahead = nil
}
