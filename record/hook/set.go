package hook

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"

	"netrec/bpf"
	"netrec/schema"
)

// Config is what the probes are compiled against: filters, rings and wishes.
type Config struct {
	Events  []*schema.Event
	Detail  bool                   // attach hooks that only enrich rows
	Force   map[string]schema.Kind // by event: only rungs that use this mechanism
	Symbols Symbols
	Ref     func(string) uint32 // stores a string for columns of type ref

	CPUs      int
	Rings     int   // for hot events, a power of two
	RingBytes int64 // each
	RareBytes int64 // of the ring for rare events
	Self      uint32
	Netns     uint32
	Pid       uint32
	Port      uint16
}

// Plan is what was decided for one event.
type Plan struct {
	Event   *schema.Event
	Hooks   []schema.Hook // attached; none where every rung was refused
	Refused []schema.Refusal
}

// Names lists the attached hooks; a second program at the same place is not one more.
func (p *Plan) Names() []string {
	var names []string
	for _, h := range p.Hooks {
		if !h.Again {
			names = append(names, h.String())
		}
	}
	return names
}

// Set is a loaded and attached set of probes.
type Set struct {
	Plans    []Plan
	Rings    []*ebpf.Map // hot ones, then the one for rare events
	Counters *ebpf.Map
	Library  uint32                      // ref of the only C library, where the kernel cannot tell them apart
	Enums    map[string]map[string]int64 // kernel enums, by schema name

	kernel *kernel
	maps   *ebpf.Collection
	links  []link.Link
	progs  []*ebpf.Collection
	first  map[uint16][]*ebpf.Program // by event, without second chances
	conf   Config
	base   *ebpf.CollectionSpec
	cookie bool
}

// Load creates the rings, then climbs the ladder of every event. An event that no
// rung can see is a Plan without hooks, not an error.
func Load(conf Config) (*Set, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("lift the limit on locked memory, which kernels before 5.11 need: %w", err)
	}
	var s *Set
	err := withTracefs(func() (err error) {
		s, err = load(conf)
		return err
	})
	return s, err
}

func load(conf Config) (*Set, error) {
	k, err := newKernel(conf.Symbols)
	if err != nil {
		return nil, err
	}
	s := &Set{kernel: k, conf: conf, Enums: map[string]map[string]int64{}, first: map[uint16][]*ebpf.Program{}}
	for _, e := range conf.Events {
		if e.Libraries() {
			k.libs = libraries()
			break
		}
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for name, e := range schema.Enums {
		if e.Kernel != "" {
			s.Enums[name] = k.enum(e.Kernel)
		}
	}
	for _, e := range conf.Events {
		if !e.Own() {
			s.Plans = append(s.Plans, s.climb(e))
		}
	}
	return s, nil
}

// Forget frees what was needed to choose and load: the kernel's types take tens of
// megabytes. Alternatives cannot be asked for afterwards.
func (s *Set) Forget() { s.kernel, s.base = nil, nil }

// prepare sets the constants, patches the programs and creates maps and rings.
func (s *Set) prepare() error {
	spec, err := bpf.Spec()
	if err != nil {
		return err
	}
	s.base = spec
	s.cookie = features.HaveProgramHelper(ebpf.Kprobe, helperAttachCookie) == nil
	pc := s.kernel.preemptCount()
	patch(spec, pc.variable, haveFetch())
	if err := s.setConstants(pc); err != nil {
		return err
	}
	spec.Maps["rings"].MaxEntries = uint32(s.conf.Rings + 1)
	spec.Maps["counters"].MaxEntries = uint32(s.conf.CPUs)
	delete(spec.Maps, "layout")
	maps := spec.Copy()
	maps.Programs = nil
	if s.maps, err = ebpf.NewCollection(maps); err != nil {
		return fmt.Errorf("create maps: %w", err)
	}
	s.Counters = s.maps.Maps["counters"]
	return s.makeRings(spec.Maps["rings"].InnerMap)
}

func (s *Set) setConstants(pc preempt) error {
	var lo, hi uint64
	for _, e := range s.conf.Events {
		for _, r := range e.Ladder {
			for _, h := range r {
				if h.CallSite != "" {
					lo, hi, _ = s.conf.Symbols.Range(h.CallSite)
				}
			}
		}
	}
	wake := min(s.conf.RingBytes, s.conf.RareBytes) / 4
	for name, v := range map[string]any{
		"cfg_rings": uint32(s.conf.Rings), "cfg_wake_bytes": uint32(wake), "cfg_self": s.conf.Self,
		"cfg_netns": s.conf.Netns, "cfg_pid": s.conf.Pid, "cfg_port": s.conf.Port,
		"cfg_callsite_lo": lo, "cfg_callsite_hi": hi, "cfg_preempt_off": pc.offset, "cfg_preempt_rq": pc.fromRq, "cfg_cookies": s.cookie,
		"cfg_detail": s.conf.Detail,
	} {
		if err := s.base.Variables[name].Set(v); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

func (s *Set) makeRings(inner *ebpf.MapSpec) error {
	for i := range s.conf.Rings + 1 {
		spec := inner.Copy()
		spec.Name = fmt.Sprintf("ring%d", i)
		spec.MaxEntries = uint32(s.conf.RingBytes)
		if i == s.conf.Rings {
			spec.MaxEntries = uint32(s.conf.RareBytes)
		}
		m, err := ebpf.NewMap(spec)
		if err != nil {
			return fmt.Errorf("create ring of %d bytes: %w", spec.MaxEntries, err)
		}
		s.Rings = append(s.Rings, m)
		if err := s.maps.Maps["rings"].Put(uint32(i), m); err != nil {
			return fmt.Errorf("register ring %d: %w", i, err)
		}
	}
	return nil
}

// Stop makes all probes fall silent at once. It takes no system call and no privilege.
func (s *Set) Stop() error {
	if err := s.maps.Variables["stopped"].Set(uint32(1)); err != nil {
		return fmt.Errorf("stop the probes: %w", err)
	}
	return nil
}

// Close detaches every hook; the rings stay readable until Release.
func (s *Set) Close() error {
	errs := make([]error, len(s.links))
	var wg sync.WaitGroup
	for i, l := range s.links {
		wg.Go(func() { errs[i] = l.Close() }) // each waits for a grace period of the kernel
	}
	wg.Wait()
	s.links = nil
	return errors.Join(errs...)
}

// Missed is how many events the kernel did not show because the same program was already
// running on that CPU, for those programs that have no second one behind them or are
// the first of two. Kernels before 5.12 do not count.
func (s *Set) Missed(e *schema.Event) int64 {
	var n int64
	for _, p := range s.first[e.ID] {
		if st, err := p.Stats(); err == nil {
			n += int64(st.RecursionMisses)
		}
	}
	return n
}

// Release frees programs, maps and rings.
func (s *Set) Release() {
	for _, c := range s.progs {
		c.Close()
	}
	for _, r := range s.Rings {
		r.Close()
	}
	if s.maps != nil {
		s.maps.Close()
	}
}

// States is the plans as the file keeps them; events that were not asked for are in it too.
func (s *Set) States() []schema.EventHooks {
	var out []schema.EventHooks
	planned := map[string]*Plan{}
	for i := range s.Plans {
		planned[s.Plans[i].Event.Name] = &s.Plans[i]
	}
	for i := range schema.Events {
		e := &schema.Events[i]
		if e.Own() {
			continue
		}
		st := schema.EventHooks{Event: e.Name, State: schema.HookNotAsked}
		if p := planned[e.Name]; p != nil {
			st.State, st.Refused = schema.HookMissing, p.Refused
			if len(p.Hooks) > 0 {
				st.State = schema.HookAttached
			}
			st.Hooks = p.Names()
		}
		out = append(out, st)
	}
	return out
}

// PossibleCPUs is how many CPUs the kernel may ever bring up; per-CPU tables have that size.
func PossibleCPUs() int {
	n, err := ebpf.PossibleCPU()
	if err != nil {
		return runtime.NumCPU()
	}
	return n
}

// IsDenied reports whether an error means missing privileges.
func IsDenied(err error) bool { return errors.Is(err, os.ErrPermission) }
