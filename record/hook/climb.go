package hook

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"netrec/schema"
)

const helperAttachCookie = asm.FnGetAttachCookie

// climb tries the rungs of an event from the top and attaches the first that works.
func (s *Set) climb(e *schema.Event) Plan {
	p := Plan{Event: e}
	for _, rung := range e.Ladder {
		hooks, refused := s.usable(e, rung)
		p.Refused = append(p.Refused, refused...)
		if hooks == nil {
			continue
		}
		if p.Hooks = s.attachRung(hooks, &p); p.Hooks != nil {
			return p
		}
	}
	return p
}

// usable is the hooks of a rung that this kernel has and that were wished for, nil
// if one that the rung cannot do without is missing.
func (s *Set) usable(e *schema.Event, rung schema.Rung) (hooks []schema.Hook, refused []schema.Refusal) {
	ok := true
	for _, h := range rung {
		if h.Detail && !s.conf.Detail {
			continue
		}
		err := s.kernel.check(h)
		if kind := s.conf.Force[e.Name]; err == nil && kind != "" && !sameMechanism(kind, h.Kind) && !h.Detail {
			err = fmt.Errorf("only %s was asked for", kind)
		}
		if err != nil {
			if !h.Again {
				refused = append(refused, schema.Refusal{Hook: h.String(), Why: err.Error()})
			}
			ok = ok && h.Optional
			continue
		}
		hooks = append(hooks, h)
	}
	if !ok {
		return nil, refused
	}
	return hooks, refused
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

// attachRung attaches all hooks or none. Optional ones may be left out.
func (s *Set) attachRung(hooks []schema.Hook, p *Plan) []schema.Hook {
	var attached []schema.Hook
	var links []link.Link
	var progs []*ebpf.Collection
	for _, h := range hooks {
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
		attached, links, progs = append(attached, h), append(links, ls...), append(progs, c)
	}
	for i, h := range attached {
		if !h.Again && !h.Silent {
			s.first[p.Event.ID] = append(s.first[p.Event.ID], progs[i].Programs[h.Prog])
		}
	}
	s.links = append(s.links, links...)
	s.progs = append(s.progs, progs...)
	return attached
}

// attach loads one program and attaches it where its hook says.
func (s *Set) attach(h schema.Hook) (*ebpf.Collection, []link.Link, error) {
	prog, ok := s.base.Programs[h.Prog]
	if !ok {
		return nil, nil, fmt.Errorf("no program %s in the BPF object", h.Prog)
	}
	spec := ebpf.CollectionSpec{Maps: s.base.Maps, Programs: map[string]*ebpf.ProgramSpec{h.Prog: prog.Copy()},
		Types: s.base.Types, ByteOrder: s.base.ByteOrder}
	c, err := ebpf.NewCollectionWithOptions(&spec, ebpf.CollectionOptions{MapReplacements: s.maps.Maps, Cache: s.kernel.cache})
	if err != nil {
		return nil, nil, fmt.Errorf("load: %w", short(err))
	}
	links, err := s.link(h, c.Programs[h.Prog])
	if err != nil {
		c.Close()
		return nil, nil, fmt.Errorf("attach: %w", short(err))
	}
	return c, links, nil
}

func (s *Set) link(h schema.Hook, p *ebpf.Program) ([]link.Link, error) {
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
	default:
		err = fmt.Errorf("no mechanism %q", h.Kind)
	}
	if err != nil {
		return nil, err
	}
	return []link.Link{l}, nil
}

// linkLibraries attaches to the function in every C library that has it.
func (s *Set) linkLibraries(h schema.Hook, p *ebpf.Program) ([]link.Link, error) {
	_, symbol, _ := strings.Cut(h.Target, ":")
	var links []link.Link
	var last error
	for _, lib := range s.kernel.libs {
		ex, err := link.OpenExecutable(lib.Path)
		if err != nil {
			last = err
			continue
		}
		o := &link.UprobeOptions{}
		ref := s.conf.Ref(lib.Name)
		if s.cookie {
			o.Cookie = uint64(ref)
		} else if len(s.kernel.libs) == 1 {
			s.Library = ref
		}
		l, err := probeLibrary(ex, h.Kind, symbol, p, o)
		if err != nil {
			last = err
			continue
		}
		links = append(links, l)
	}
	if len(links) == 0 {
		return nil, last
	}
	return links, nil
}

func probeLibrary(ex *link.Executable, k schema.Kind, symbol string, p *ebpf.Program, o *link.UprobeOptions) (link.Link, error) {
	if k == schema.Uretprobe {
		return ex.Uretprobe(symbol, p, o)
	}
	return ex.Uprobe(symbol, p, o)
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
	if len(p.Hooks) == 0 {
		return nil, nil
	}
	below := false
	for _, rung := range p.Event.Ladder {
		if !below {
			below = rung[0].Prog == p.Hooks[0].Prog
			continue
		}
		hooks, no := s.usable(p.Event, rung)
		refused = append(refused, no...)
		if hooks == nil {
			continue
		}
		trial := Plan{Event: p.Event}
		if attached := s.attachRung(hooks, &trial); attached != nil {
			trial.Hooks = attached
			also = append(also, strings.Join(trial.Names(), "+"))
		}
		refused = append(refused, trial.Refused...)
	}
	return also, refused
}
