package hook

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"netrec/schema"
)

// climb tries the rungs of an event from the top and attaches the first that works.
func (s *Set) climb(e *schema.Event) Plan {
	p := Plan{Event: e}
	if e.Counts() {
		s.count(&p)
		return p
	}
	for i := range e.Ladder {
		u := s.usable(e, i)
		p.Refused = append(p.Refused, u.refused...)
		if u.hooks == nil {
			continue
		}
		if p.Hooks = s.attachRung(u.hooks, &p); p.Hooks != nil {
			return p
		}
	}
	return p
}

// rungKey is a rung of an event's ladder.
type rungKey struct {
	event uint16
	at    int
}

// use is what can be had of a rung.
type use struct {
	hooks   []schema.Hook
	refused []schema.Refusal
}

// usable is the hooks of a rung that this kernel has and that were wished for, none
// if one that the rung cannot do without is missing.
func (s *Set) usable(e *schema.Event, rung int) use {
	key := rungKey{e.ID, rung}
	u, known := s.uses[key]
	if !known {
		s.types.Lock()
		u.hooks, u.refused = s.look(e, e.Ladder[rung])
		s.types.Unlock()
		s.uses[key] = u
	}
	return u
}

// errCostly is why a share of an event goes without a hook that could be had.
var errCostly = errors.New("runs too often for a share of packets; --packets all uses it")

// look asks the kernel about the hooks of a rung.
func (s *Set) look(e *schema.Event, rung schema.Rung) (hooks []schema.Hook, refused []schema.Refusal) {
	ok := true
	for _, h := range rung {
		if h.Detail && !s.conf.Detail {
			continue
		}
		all := []schema.Hook{h}
		err := s.kernel.check(h)
		if _, ok := members[h.Target]; ok && err == nil {
			all, err = s.kernel.expand(h)
			all = without(all, hooks)
		}
		if kind := s.conf.Force[e.Name]; err == nil && kind != "" && !sameMechanism(kind, h.Kind) && !h.Detail {
			err = fmt.Errorf("only %s was asked for", kind)
		}
		if err == nil && h.Costly && s.conf.Share != nil {
			err = errCostly
		}
		if err != nil {
			if !h.Again {
				_, variant := err.(variantError)
				refused = append(refused, schema.Refusal{Hook: h.String(), Why: err.Error(), Variant: variant})
			}
			ok = ok && h.Optional
			continue
		}
		hooks = append(hooks, all...)
	}
	if !ok {
		return nil, refused
	}
	return hooks, refused
}

// without leaves out kprobes of functions for which the rung already has trampolines.
func without(all, have []schema.Hook) []schema.Hook {
	return slices.DeleteFunc(all, func(h schema.Hook) bool {
		return (h.Kind == schema.Kprobe || h.Kind == schema.Kretprobe) && slices.ContainsFunc(have, func(o schema.Hook) bool {
			return o.Target == h.Target && (o.Kind == schema.Fentry || o.Kind == schema.Fexit)
		})
	})
}

// sameMechanism ignores whether a probe is at the start or the end of a function.
func sameMechanism(a, b schema.Kind) bool {
	start := map[schema.Kind]schema.Kind{schema.Fexit: schema.Fentry, schema.Kretprobe: schema.Kprobe, schema.Uretprobe: schema.Uprobe}
	if k, ok := start[a]; ok {
		a = k
	}
	if k, ok := start[b]; ok {
		b = k
	}
	return a == b
}

// atEnd reports whether a hook is at the end of a call.
func atEnd(h schema.Hook) bool {
	return h.Kind == schema.Fexit || h.Kind == schema.Kretprobe || h.Kind == schema.Uretprobe ||
		h.Kind == schema.Syscall && strings.HasPrefix(h.Target, "sys_exit_")
}

// endsFirst is the order in which the hooks of a rung are attached: a start that is noted
// before anything sees the end would be taken for that of a later call.
func endsFirst(hooks []schema.Hook) []schema.Hook {
	at := func(h schema.Hook) int {
		if atEnd(h) {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(hooks), func(a, b schema.Hook) int { return at(a) - at(b) })
}

// attachRung attaches all hooks or none. Optional ones may be left out.
func (s *Set) attachRung(hooks []schema.Hook, p *Plan) []schema.Hook {
	var attached []schema.Hook
	var links []io.Closer
	var progs []*ebpf.Program
	var came []int64
	for _, h := range endsFirst(hooks) {
		c, ls, err := s.attach(h)
		if err != nil {
			p.Refused = append(p.Refused, schema.Refusal{Hook: h.String(), Why: err.Error()})
			if h.Optional {
				continue
			}
			for _, l := range links {
				l.Close()
			}
			for _, c := range progs {
				c.Close()
			}
			return nil
		}
		attached, links, progs, came = append(attached, h), append(links, ls...), append(progs, c), append(came, s.conf.Clock())
	}
	if len(attached) == 0 {
		return nil
	}
	for i, h := range attached {
		if !h.Again {
			s.first[p.Event.ID] = append(s.first[p.Event.ID], progs[i])
		}
	}
	s.links = append(s.links, links...)
	s.progs = append(s.progs, progs...)
	return p.sorted(hooks, attached, came)
}

// sorted puts the attached hooks back into the order of their rung, with the times at which
// they came.
func (p *Plan) sorted(hooks, attached []schema.Hook, came []int64) (out []schema.Hook) {
	p.Came = nil
	for _, h := range hooks {
		if i := slices.Index(attached, h); i >= 0 {
			out, p.Came = append(out, h), append(p.Came, came[i])
		}
	}
	return out
}

// attach attaches a program where its hook says, together with others if it can.
func (s *Set) attach(h schema.Hook) (*ebpf.Program, []io.Closer, error) {
	if j := s.joints[h.Prog]; j != nil {
		if p, err := s.join(h, j); err == nil {
			return p, nil, nil
		}
		if j.prog == nil {
			s.split(j)
		}
	}
	return s.attachOne(h)
}

func (s *Set) attachOne(h schema.Hook) (*ebpf.Program, []io.Closer, error) {
	if err := s.conf.Enough(); err != nil {
		return nil, nil, err
	}
	p, err := s.program(h)
	if err != nil {
		return nil, nil, err
	}
	links, err := s.link(h, p)
	if err != nil {
		p.Close()
		return nil, nil, fmt.Errorf("attach: %w", denied(h.Kind, err))
	}
	return p, links, nil
}

// loadProgram loads one program with the maps that all share. Only the program is kept:
// a collection has descriptors of all maps, and there are hundreds of programs.
//
// One at a time: the library decodes types of modules into those of the kernel without a lock.
func (s *Set) loadProgram(prog *ebpf.ProgramSpec) (*ebpf.Program, error) {
	s.types.Lock()
	defer s.types.Unlock()
	spec := ebpf.CollectionSpec{Maps: s.base.Maps, Programs: map[string]*ebpf.ProgramSpec{prog.Name: prog},
		Types: s.base.Types, ByteOrder: s.base.ByteOrder}
	c, err := ebpf.NewCollectionWithOptions(&spec, ebpf.CollectionOptions{MapReplacements: s.maps.Maps, Cache: s.kernel.cache})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.DetachProgram(prog.Name), nil
}

func (s *Set) link(h schema.Hook, p *ebpf.Program) ([]io.Closer, error) {
	var l link.Link
	var err error
	switch h.Kind {
	case schema.RawTP, schema.Fentry, schema.Fexit:
		l, err = link.AttachTracing(link.TracingOptions{Program: p})
	case schema.Syscall:
		l, err = link.Tracepoint("syscalls", h.Target, p, nil)
	case schema.Kprobe:
		l, err = link.Kprobe(h.Target, p, nil)
	case schema.Kretprobe:
		l, err = link.Kretprobe(h.Target, p, nil)
	case schema.Uprobe, schema.Uretprobe:
		return s.linkLibraries(h, p)
	case schema.Perf:
		return s.linkPerf(h, p)
	default:
		err = fmt.Errorf("no mechanism %q", h.Kind)
	}
	if err != nil {
		return nil, err
	}
	return []io.Closer{l}, nil
}

// short keeps of a refusal what names the cause: the end of a verifier's log, or the
// kernel's own errno without the library's guesses.
func short(err error) error {
	var ve *ebpf.VerifierError
	if errors.As(err, &ve) && len(ve.Log) > 0 {
		n := len(ve.Log)
		return fmt.Errorf("%w: %s", ve.Cause, strings.Join(ve.Log[max(0, n-3):], "; "))
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return fmt.Errorf("refused by this kernel: %w", errno)
	}
	return err
}

// Alternatives tries the rungs below the chosen one and says which would do.
func (s *Set) Alternatives(p *Plan) (also []string, refused []schema.Refusal) {
	if len(p.Hooks) == 0 || p.Event.Counts() {
		return nil, nil
	}
	below := false
	for i, rung := range p.Event.Ladder {
		if !below {
			below = rung[0].Prog == p.Hooks[0].Prog
			continue
		}
		u := s.usable(p.Event, i)
		refused = append(refused, u.refused...)
		if u.hooks == nil {
			continue
		}
		trial := Plan{Event: p.Event}
		if attached := s.attachRung(u.hooks, &trial); attached != nil {
			trial.Hooks = attached
			also = append(also, strings.Join(trial.Names(), "+"))
		}
		refused = append(refused, trial.Refused...)
	}
	return also, refused
}
