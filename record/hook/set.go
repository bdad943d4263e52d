package hook

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
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

	Libraries []string // files to probe beside the C libraries that are found

	CPUs      int
	Rings     int   // for hot events, a power of two
	RingBytes int64 // each
	RareBytes int64 // of the ring for rare events
	Self      uint32
	Filters   map[string]any // constants of bpf/filter.h, by name
	Share     *schema.Share  // of the events that are thinned; nil for all

	CountFuncs []string // patterns of functions to count
	CountTPs   []string // the same of tracepoints, group:name
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
	Counted  []Counted                   // by slot of Counts
	Counts   *ebpf.Map                   // hits, by CPU and slot
	Enums    map[string]map[string]int64 // kernel enums, by schema name

	Libraries []schema.Library // that were there at the start
	Warnings  []string

	kernel *kernel
	maps   *ebpf.Collection
	links  []io.Closer
	progs  []*ebpf.Program
	first  map[uint16][]*ebpf.Program // by event, without second chances
	conf   Config
	base   *ebpf.CollectionSpec
	cookie bool

	libs      *libraries
	found     []*Library // at the start
	sites     []site     // what goes into each library
	watch     *watch     // for libraries that appear later; nil where the kernel does not tell
	helper    *helper    // which probes those; nil where none was wished for
	following sync.WaitGroup
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
	if err := s.findLibraries(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer closeLibraries(s.found)
	s.chooseCounted()
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
	return s, s.tellShown()
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
	spec.Maps["counts"].MaxEntries = uint32(max(1, len(s.Counted)*s.conf.CPUs))
	spec.Maps["count_slots"].MaxEntries = uint32(max(1, len(s.Counted)))
	delete(spec.Maps, "layout")
	empty := spec.Copy()
	empty.Programs = nil
	if s.maps, err = ebpf.NewCollection(empty); err != nil {
		return fmt.Errorf("create maps: %w", err)
	}
	s.Counters, s.Counts = s.maps.Maps["counters"], s.maps.Maps["counts"]
	return s.makeRings(spec.Maps["rings"].InnerMap)
}

func (s *Set) setConstants(pc preempt) error {
	wake := min(s.conf.RingBytes, s.conf.RareBytes) / 4
	constants := map[string]any{
		"cfg_rings": uint32(s.conf.Rings), "cfg_wake_bytes": uint32(wake), "cfg_self": s.conf.Self,
		"cfg_preempt_off": pc.offset, "cfg_preempt_rq": pc.fromRq, "cfg_cookies": s.cookie,
		"cfg_count_slots": uint32(len(s.Counted)), "cfg_detail": s.conf.Detail, "cfg_task_regs": features.HaveProgramHelper(ebpf.TracePoint, asm.FnTaskPtRegs) == nil,
	}
	if share := s.conf.Share; share != nil {
		constants["cfg_share"] = uint32(uint64(share.Keep) << 32 / uint64(share.Of))
	}
	maps.Copy(constants, s.conf.Filters)
	for name, v := range constants {
		if s.base.Variables[name] == nil {
			return fmt.Errorf("set %s: the probes have no such constant", name)
		}
		if err := s.base.Variables[name].Set(v); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return s.setSites()
}

// setSites tells the probes where functions begin and end of which they ask whether they
// were the caller. A function that this kernel does not have called nobody.
func (s *Set) setSites() error {
	for name, v := range s.base.Variables {
		function, ok := strings.CutPrefix(name, "site_")
		if !ok {
			continue
		}
		lo, hi, _ := s.conf.Symbols.Range(function)
		if err := v.Set([2]uint64{lo, hi}); err != nil {
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

// tellShown tells the probes what of the lives of packets they will be shown.
func (s *Set) tellShown() error {
	attached := map[string]bool{}
	for _, p := range s.Plans {
		attached[p.Event.Name] = len(p.Hooks) > 0
	}
	for name, shown := range map[string]bool{"shown_ends": attached["skb_free"], "shown_births": attached["skb_alloc"] && attached["skb_derive"]} {
		if !shown {
			continue
		}
		if err := s.maps.Variables[name].Set(uint32(1)); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
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
	stopped := s.stopFollowing()
	errs := make([]error, len(s.links))
	var wg sync.WaitGroup
	for i, l := range s.links {
		wg.Go(func() { errs[i] = l.Close() }) // each waits for a grace period of the kernel
	}
	wg.Wait()
	s.links = nil
	return errors.Join(append(errs, stopped)...)
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
	if share := s.conf.Share; share != nil && e.Thin != "" { // the kernel counts also what would not have been drawn
		n = n * int64(share.Keep) / int64(share.Of)
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
			st.Share = s.shareOf(p)
		}
		out = append(out, st)
	}
	return out
}

// shareStacks is SHARE_STACKS of bpf/share.h.
const shareStacks = 4

// shareOf is the share of an event that is recorded, nil for all of it or none.
func (s *Set) shareOf(p *Plan) *schema.Share {
	if s.conf.Share == nil || p.Event.Thin == "" || len(p.Hooks) == 0 {
		return nil
	}
	share := schema.Share{Keep: s.conf.Share.Keep, Of: s.conf.Share.Of, By: p.Event.Thin}
	if p.Event.Name == "dev_xmit" {
		share.Stacks = shareStacks
	}
	return &share
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
