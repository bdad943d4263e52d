package record

import (
	"fmt"
	"slices"

	"netrec/record/host"
	"netrec/schema"
)

// qdiscEvents are those that hook functions of queueing disciplines, whatever modules have them.
var qdiscEvents = []string{"qdisc_enq", "qdisc_deq"}

// watchModules notes which modules have hooks.
func (s *session) watchModules() {
	if slices.ContainsFunc(s.opt.Events, func(e *schema.Event) bool { return slices.Contains(qdiscEvents, e.Name) }) {
		s.modules = host.QdiscModules()
	}
}

// met is the Unix time at which something new is met. Detaching takes seconds on a busy host; what
// is met then came before the recording stopped.
func (s *session) met() int64 {
	now := mono()
	if s.stopped != 0 {
		now = min(now, s.stopped)
	}
	return s.wall(now)
}

// newModules writes down which modules with queueing disciplines were loaded since: their
// functions have no hooks, and the privilege to attach some is gone.
func (s *session) newModules() error {
	if s.modules == nil {
		return nil
	}
	for name := range host.QdiscModules() {
		if s.modules[name] {
			continue
		}
		s.modules[name] = true
		m := schema.Module{Name: name, SinceNS: s.met()}
		s.meta.Modules = append(s.meta.Modules, m)
		s.notice(AboutHooks, "%s was loaded and has no hooks: its queues inside other disciplines are not seen", name)
		if err := s.metaRow(schema.KeyModule, m); err != nil {
			return err
		}
	}
	return nil
}

// newLibraries writes down which libraries have appeared, and tells of the first that has
// no probes.
func (s *session) newLibraries() error {
	for {
		select {
		case lib := <-s.late:
			if !lib.Probed && s.once("a library without probes") {
				s.notice(AboutHooks, "C library %s appeared during the recording and has no probes; --dns-follow attaches them", lib.Path)
			}
			s.meta.Libraries = append(s.meta.Libraries, lib)
			if err := s.metaRow(schema.KeyLibrary, lib); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// newcomers writes down which CPUs have come online, and tells of the first that is not
// sampled.
func (s *session) newcomers() error {
	for _, l := range s.hooks.Newcomers() {
		l.SinceNS = s.met()
		if l.Why != "" && s.once("a CPU that is not sampled") {
			s.notice(AboutHooks, "%s came online and has no %s: %s", l.Place, l.Event, l.Why)
		}
		if len(s.meta.Late) < maxLate { // one that comes and goes all day
			s.meta.Late = append(s.meta.Late, l)
		}
		if err := s.metaRow(schema.KeyLate, l); err != nil {
			return err
		}
	}
	return nil
}

// maxLate bounds what the footer says of places that came late.
const maxLate = 256

// noNames writes down that user stacks stay addresses from now on, and tells so once.
func (s *session) noNames() {
	text := s.nameless()
	if text == "" || !s.once("user stacks without names") {
		return
	}
	s.notice(AboutNames, "%s", text)
	s.meta.Warnings = append(s.meta.Warnings, text)
}

// nameless says that user stacks have no names, "" while they have.
func (p *preparation) nameless() string {
	if p.userNames == nil {
		return ""
	}
	err := p.userNames.Trouble()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("user stacks have addresses instead of names: %v", err)
}
