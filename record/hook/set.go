package hook

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"netrec/bpf"
	"netrec/record/reader"
	"netrec/schema"
)

// Config is what the probes are compiled against: filters, rings and wishes.
type Config struct {
	Events []*schema.Event
	// AllStacks takes also those that tell little and cost much.
	AllStacks bool
	Detail    bool                   // attach hooks that only enrich rows
	Force     map[string]schema.Kind // by event: only rungs that use this mechanism
	Symbols   Symbols
	Ref       func(string) uint32 // stores a string for columns of type ref

	Libraries []string       // files to probe beside the C libraries that are found
	Reader    *reader.Reader // which looks for them; needed by events of libraries

	CPUs      int
	Rings     int   // for hot events, a power of two
	RingBytes int64 // each
	RareBytes int64 // of the ring for rare events
	Self      uint32
	ReaderPid uint32 // processes that work for the recorder; 0 for none
	KeeperPid uint32
	Filters   map[string]any // constants of bpf/filter.h, by name
	Share     *schema.Share  // of the events that are thinned; nil for all
	Budget    bool           // Thin will be called

	CountFuncs []string // patterns of functions to count
	CountTPs   []string // the same of tracepoints, group:name

	Clock func() int64 // of the events, monotonic ns; nil where nobody asks when hooks came

	// Enough says why no further hook is to be attached, nil as long as there is time. It is
	// asked before each, also beside the caller's thread; nil for no limit.
	Enough func() error
}

// Plan is what was decided for one event.
type Plan struct {
	Event   *schema.Event
	Hooks   []schema.Hook // attached; none where every rung was refused
	Came    []int64       // when each was, by Config.Clock
	Refused []schema.Refusal
}

// Names lists the attached hooks; a second program at the same place is not one more.
func (p *Plan) Names() []string {
	names, _ := p.attached()
	return names
}

// attached lists the hooks and when they came.
func (p *Plan) attached() (names []string, came []int64) {
	for i, h := range p.Hooks {
		if !h.Again {
			names, came = append(names, h.String()), append(came, p.Came[i])
		}
	}
	return names, came
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
	uses   map[rungKey]use
	ahead  ahead
	joints map[string]*joint // by the program of a part
	types  sync.Mutex        // of the kernel and its modules, while programs are loaded ahead
	timers []*timer          // events of perf, which stand on CPUs

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
	if conf.Clock == nil {
		conf.Clock = func() int64 { return 0 }
	}
	if conf.Enough == nil {
		conf.Enough = func() error { return nil }
	}
	object := sync.OnceValues(bpf.Spec)
	go func() { _, _ = object() }() // beside reading the kernel's own types
	k, err := newKernel(conf.Symbols)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(conf.Events, hasMembers) {
		go func() { _, _ = k.functionsLike() }() // whoever needs it hears of errors
	}
	s := &Set{kernel: k, conf: conf, Enums: map[string]map[string]int64{}, first: map[uint16][]*ebpf.Program{}, uses: map[rungKey]use{}}
	if err := s.findLibraries(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer closeLibraries(s.found)
	s.chooseCounted()
	spec, err := object()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.prepare(spec); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for name, e := range schema.Enums {
		if e.Kernel != "" {
			s.Enums[name] = k.enum(e.Kernel)
		}
	}
	s.climbAll()
	return s, s.tellShown()
}

// climbAll attaches in the order of the profiles; the plans are in that of the events.
func (s *Set) climbAll() {
	events := inOrder(slices.DeleteFunc(slices.Clone(s.conf.Events), (*schema.Event).Own))
	s.planJoints(events)
	s.loadAhead(events)
	defer s.dropAhead()
	for _, e := range events {
		s.Plans = append(s.Plans, s.climb(e))
	}
	slices.SortFunc(s.Plans, func(a, b Plan) int {
		return slices.Index(s.conf.Events, a.Event) - slices.Index(s.conf.Events, b.Event)
	})
}

// Forget frees what was needed to choose and load: the kernel's types take tens of
// megabytes. Alternatives cannot be asked for afterwards.
func (s *Set) Forget() { s.kernel, s.base = nil, nil }

// prepare sets the constants, patches the programs and creates maps and rings.
func (s *Set) prepare(spec *ebpf.CollectionSpec) (err error) {
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

// WakeBytes is how much in a ring wakes the recorder.
func (s *Set) WakeBytes() int { return int(min(s.conf.RingBytes, s.conf.RareBytes) / 4) }

func (s *Set) setConstants(pc preempt) error {
	constants := map[string]any{
		"cfg_rings": uint32(s.conf.Rings), "cfg_wake_bytes": uint32(s.WakeBytes()), "cfg_hot_bytes": uint32(s.conf.RingBytes), "cfg_rare_bytes": uint32(s.conf.RareBytes), "cfg_self": s.conf.Self, "cfg_reader": s.conf.ReaderPid, "cfg_keeper": s.conf.KeeperPid,
		"cfg_preempt_off": pc.offset, "cfg_preempt_rq": pc.fromRq, "cfg_cookies": s.cookie, "cfg_tick_us": tickMicros(),
		"cfg_count_slots": uint32(len(s.Counted)), "cfg_detail": s.conf.Detail, "cfg_all_stacks": s.conf.AllStacks, "cfg_task_regs": features.HaveProgramHelper(ebpf.TracePoint, asm.FnTaskPtRegs) == nil,
		"cfg_cast": haveCast(s.kernel.types), "cfg_tasks_move": tasksMove(),
	}
	if share := s.conf.Share; share != nil {
		constants["cfg_share"] = uint32(min(uint64(share.Keep)<<32/uint64(share.Of), math.MaxUint32))
	}
	constants["cfg_budget"] = s.conf.Budget
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

// tickMicros is the length of a jiffy: the coarse clock goes by it.
func tickMicros() uint32 {
	var tick unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &tick); err != nil {
		return 0
	}
	return uint32(tick.Nano() / 1000)
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

// Start lets all probes make rows from this moment on. Before it they only note the starts
// of calls.
func (s *Set) Start() error {
	if err := s.maps.Variables["recording"].Set(uint32(1)); err != nil {
		return fmt.Errorf("start the probes: %w", err)
	}
	return nil
}

// Thin halves the shares of hot events so many times, of connections and of what is drawn. Like
// Stop it takes no privilege.
func (s *Set) Thin(conns, draws uint32) error {
	for name, n := range map[string]uint32{"conns_halved": conns, "draws_halved": draws} {
		if err := s.maps.Variables[name].Set(n); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
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
	if err := s.maps.Variables["recording"].Set(uint32(0)); err != nil {
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
	if share := s.conf.Share; share != nil && e.Drawn() { // the kernel counts also what would not have been drawn
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
// wall makes Unix time of what Config.Clock says.
func (s *Set) States(wall func(int64) int64) []schema.EventHooks {
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
			st.Hooks, st.CameNS = p.attached()
			for i, at := range st.CameNS {
				st.CameNS[i] = wall(at)
			}
			st.Share = s.shareOf(p)
		}
		out = append(out, st)
	}
	return out
}

// shareOf is the share of an event that is recorded, nil for all of it or none.
func (s *Set) shareOf(p *Plan) *schema.Share {
	if !s.conf.Share.Part() || !p.Event.Drawn() || len(p.Hooks) == 0 {
		return nil
	}
	return &schema.Share{Keep: s.conf.Share.Keep, Of: s.conf.Share.Of, By: p.Event.Thin}
}

// PossibleCPUs is how many CPUs the kernel may ever bring up; per-CPU tables have that size.
func PossibleCPUs() int {
	n, err := ebpf.PossibleCPU()
	if err != nil {
		return runtime.NumCPU()
	}
	return n
}
