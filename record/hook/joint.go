package hook

import (
	"slices"

	"github.com/cilium/ebpf"

	"netrec/schema"
)

// joint is a program that stands for hooks of several events; nil before the first of them
// is attached.
type joint struct {
	name string
	prog *ebpf.Program
}

// planJoints finds the joint programs of which every part is wanted and to be had.
func (s *Set) planJoints(events []*schema.Event) {
	wanted := map[string]bool{}
	for _, e := range events {
		for _, h := range s.firstUsable(e) {
			wanted[h.Prog] = true
		}
	}
	s.joints = map[string]*joint{}
	for _, j := range schema.Joints() {
		if slices.ContainsFunc(j.Parts, func(h schema.Hook) bool { return !wanted[h.Prog] }) {
			continue
		}
		shared := &joint{name: j.Prog}
		for _, h := range j.Parts {
			s.joints[h.Prog] = shared
		}
	}
}

// inPlace is the hook with the program that is loaded for it.
func (s *Set) inPlace(h schema.Hook) schema.Hook {
	if j := s.joints[h.Prog]; j != nil {
		h.Prog = j.name
	}
	return h
}

// join attaches the joint program of a hook if that was not done for another of its parts.
// Each part has the program by a descriptor of its own.
func (s *Set) join(h schema.Hook, j *joint) (*ebpf.Program, error) {
	if j.prog == nil {
		prog, links, err := s.attachOne(s.inPlace(h))
		if err != nil {
			return nil, err
		}
		j.prog, s.links, s.progs = prog, append(s.links, links...), append(s.progs, prog)
	}
	return j.prog.Clone()
}

// split leaves a place to the programs of its own events, where the kernel refuses the joint one.
func (s *Set) split(j *joint) {
	for name, other := range s.joints {
		if other == j {
			delete(s.joints, name)
		}
	}
}
