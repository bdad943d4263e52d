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
		m := schema.Module{Name: name, SinceNS: s.wall(mono())}
		s.meta.Modules = append(s.meta.Modules, m)
		fmt.Fprintf(s.opt.Notice, "netrec: %s was loaded and has no hooks: its queues inside other disciplines are not seen\n", name)
		if err := s.metaRow(schema.KeyModule, m); err != nil {
			return err
		}
	}
	return nil
}
