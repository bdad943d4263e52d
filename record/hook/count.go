package hook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"netrec/schema"
)

// Counted is a function or tracepoint that has a slot of the counters.
type Counted struct {
	Event *schema.Event
	Name  string
}

// Bounds of what is counted: slots exist for each CPU, and kprobes that are attached one
// by one take their time, each.
const (
	maxCounted = 4096
	maxSingly  = 512
	maxTPs     = 256 // each has a program of its own
)

// slotPlaceholder is where a program has the number of its slot; see bpf/tp_count.bpf.c.
const slotPlaceholder = 0x6e6574726563736c

// chooseCounted gives slots to what the patterns name. What goes wrong is said when it
// comes to attaching.
func (s *Set) chooseCounted() {
	for _, e := range s.conf.Events {
		var names []string
		switch e.Name {
		case "func_count":
			names = s.kernel.functions(s.conf.CountFuncs)
		case "tp_count":
			names = s.kernel.tracepoints(s.conf.CountTPs)
		}
		for _, n := range names[:min(len(names), maxCounted)] {
			s.Counted = append(s.Counted, Counted{e, n})
		}
	}
}

// functions lists the functions that can be traced and match. Those that share their name
// cannot be told apart and are left out.
func (k *kernel) functions(patterns []string) []string {
	f, err := os.Open(filepath.Join(k.tracefs, "available_filter_functions"))
	if err != nil || len(patterns) == 0 {
		return nil
	}
	defer f.Close()
	return matching(f, patterns)
}

func matching(lines io.Reader, patterns []string) []string {
	count := map[string]int{}
	for sc := bufio.NewScanner(lines); sc.Scan(); {
		name, _, _ := strings.Cut(sc.Text(), " ") // a module may follow
		if slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil }) {
			count[name]++
		}
	}
	var names []string
	for name, n := range count {
		if n == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// tracepoints lists those that match, as group:name. System calls have no tracepoints of
// their own, what tracefs shows of them is made from raw_syscalls.
func (k *kernel) tracepoints(patterns []string) []string {
	var names []string
	for _, p := range patterns {
		group, name, _ := strings.Cut(p, ":")
		dirs, err := filepath.Glob(filepath.Join(k.tracefs, "events", group, name, "format"))
		if err != nil {
			continue
		}
		for _, d := range dirs {
			d = filepath.Dir(d)
			if g := filepath.Base(filepath.Dir(d)); g != "syscalls" {
				names = append(names, g+":"+filepath.Base(d))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// count attaches the programs of an event that counts, by the first mechanism that works.
func (s *Set) count(p *Plan) {
	patterns := s.conf.CountFuncs
	if p.Event.Name == "tp_count" {
		patterns = s.conf.CountTPs
	}
	slots := s.slotsOf(p.Event)
	for _, rung := range p.Event.Ladder {
		h := rung[0]
		refuse := func(target string, err error) {
			p.Refused = append(p.Refused, schema.Refusal{Hook: string(h.Kind) + ":" + target, Why: err.Error()})
		}
		if kind := s.conf.Force[p.Event.Name]; kind != "" && kind != h.Kind {
			refuse(h.Target, fmt.Errorf("only %s was asked for", kind))
			continue
		}
		n, err := s.countBy(h, slots, refuse)
		if err != nil {
			refuse(strings.Join(patterns, ","), err)
		}
		if n == 0 {
			continue
		}
		for _, pattern := range patterns {
			one := h
			one.Target = pattern
			p.Hooks, p.Came = append(p.Hooks, one), append(p.Came, s.conf.Clock())
		}
		return
	}
}

// slotsOf is the slots of an event, in order.
func (s *Set) slotsOf(e *schema.Event) []int {
	var slots []int
	for i := range s.Counted {
		if s.Counted[i].Event == e {
			slots = append(slots, i)
		}
	}
	return slots
}

// countBy attaches by one mechanism and gives the number of places; an error beside some
// says that there are more.
func (s *Set) countBy(h schema.Hook, slots []int, refuse func(string, error)) (int, error) {
	if h.Kind == schema.PlainTP {
		if len(slots) == 0 {
			return 0, errors.New("no tracepoint of this kernel matches, or none was asked for")
		}
		return s.countTracepoints(h, slots, refuse)
	}
	if err := s.kernel.haveKprobes(); err != nil {
		return 0, err
	}
	if len(slots) == 0 {
		return 0, errors.New("no function of this kernel that can be traced matches, or none was asked for")
	}
	if err := s.conf.Enough(); err != nil {
		return 0, err
	}
	p, err := s.loadProgram(s.base.Programs[h.Prog].Copy())
	if err != nil {
		return 0, fmt.Errorf("load: %w", short(err))
	}
	n := 0
	if h.Kind == schema.KprobeMulti {
		n, err = s.countAtOnce(p, slots)
	} else {
		n, err = s.countSingly(p, slots, refuse)
	}
	if n == 0 {
		p.Close()
		return 0, err
	}
	s.keepCounting(s.Counted[slots[0]].Event, p)
	return n, err
}

func (s *Set) keepCounting(e *schema.Event, p *ebpf.Program) {
	s.progs = append(s.progs, p)
	s.first[e.ID] = append(s.first[e.ID], p)
}

func (s *Set) countAtOnce(p *ebpf.Program, slots []int) (int, error) {
	var o link.KprobeMultiOptions
	for _, slot := range slots {
		o.Symbols, o.Cookies = append(o.Symbols, s.Counted[slot].Name), append(o.Cookies, uint64(slot))
	}
	l, err := link.KprobeMulti(p, o)
	if err != nil {
		return 0, fmt.Errorf("attach: %w", short(err))
	}
	s.links = append(s.links, l)
	return len(slots), nil
}

func (s *Set) countSingly(p *ebpf.Program, slots []int, refuse func(string, error)) (int, error) {
	n := 0
	for _, slot := range slots[:min(len(slots), maxSingly)] {
		if err := s.conf.Enough(); err != nil {
			return n, err
		}
		name := s.Counted[slot].Name
		if addr, _, ok := s.kernel.symbols.Range(name); ok && !s.cookie {
			if err := s.maps.Maps["count_slots"].Put(addr, uint32(slot)); err != nil {
				return n, fmt.Errorf("slot of %s: %w", name, err)
			}
		}
		o := &link.KprobeOptions{}
		if s.cookie {
			o.Cookie = uint64(slot)
		}
		l, err := link.Kprobe(name, p, o)
		if err != nil {
			refuse(name, fmt.Errorf("attach: %w", short(err)))
			continue
		}
		s.links = append(s.links, l)
		n++
	}
	return n, tooMany(len(slots), maxSingly)
}

// countTracepoints makes a program for each, which knows its slot.
func (s *Set) countTracepoints(h schema.Hook, slots []int, refuse func(string, error)) (int, error) {
	n := 0
	for _, slot := range slots[:min(len(slots), maxTPs)] {
		if err := s.conf.Enough(); err != nil {
			return n, err
		}
		if err := s.countTracepoint(h, slot); err != nil {
			refuse(s.Counted[slot].Name, err)
			continue
		}
		n++
	}
	return n, tooMany(len(slots), maxTPs)
}

func (s *Set) countTracepoint(h schema.Hook, slot int) error {
	p, err := s.loadProgram(forSlot(s.base.Programs[h.Prog], slot))
	if err != nil {
		return fmt.Errorf("load: %w", short(err))
	}
	_, name, _ := strings.Cut(s.Counted[slot].Name, ":")
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p})
	if err != nil {
		p.Close()
		return fmt.Errorf("attach: %w", short(err))
	}
	s.links = append(s.links, l)
	s.keepCounting(s.Counted[slot].Event, p)
	return nil
}

func tooMany(match, most int) error {
	if match > most {
		return fmt.Errorf("%d match, only the first %d are counted", match, most)
	}
	return nil
}

// forSlot is a program that counts in one slot.
func forSlot(p *ebpf.ProgramSpec, slot int) *ebpf.ProgramSpec {
	p = p.Copy()
	for i := range p.Instructions {
		if ins := &p.Instructions[i]; ins.OpCode == asm.LoadImmOp(asm.DWord) && ins.Constant == slotPlaceholder {
			ins.Constant = int64(slot)
		}
	}
	return p
}
