package record

import (
	"fmt"
	"slices"
	"time"

	"netrec/record/hook"
	"netrec/schema"
)

// budget is the governor's place in a session: what it is told comes from the kernel's and the
// probes' counters, what it decides goes to the probes and becomes a row.
type budget struct {
	*governor
	last   time.Time
	cpu    int64     // of the recorder, ns, at the last step
	counts []sample  // by event, at the last step
	drawn  float64   // share of the events that are drawn, without a budget
	beside []float64 // by event: programs of rare events that run wherever it does
	list   schema.Budget
	told   bool
}

// startBudget begins to keep the budget, if there is one.
func (s *session) startBudget() {
	if s.opt.Budget == 0 {
		return
	}
	b := &budget{governor: newGovernor(s.opt.Budget, s.report.Host.CPUs, s.writer.pace.usual()), last: time.Now(), counts: make([]sample, schema.MaxID), drawn: 1,
		beside: beside(s.hooks.Plans)}
	if sh := s.opt.Share; sh.Part() {
		b.drawn = float64(sh.Keep) / float64(sh.Of)
	}
	user, sys := cpuTime()
	b.cpu = user + sys
	b.list.Percent = 100 * s.opt.Budget
	s.budget = b
	s.writer.budget.Store(b.said())
}

// said is what the file says of the budget so far.
func (b *budget) said() *schema.Budget {
	list := b.list
	list.Changes, list.OverNS = slices.Clone(list.Changes), int64(b.over)
	return &list
}

// govern adapts what is left out of hot events to what the recording costs.
func (s *session) govern(now time.Time) error {
	b := s.budget
	if b == nil || now.Sub(b.last) < governEvery {
		return nil
	}
	before := b.halved
	changed := b.step(b.measure(s.acct, s.opt.Events, now))
	if b.over >= time.Second && !b.told {
		b.told = true
		s.notice(AboutBudget, "--budget %s is exceeded, and a smaller sample would not help; --profile light costs less", percent(s.opt.Budget))
	}
	if !changed {
		return nil
	}
	if err := s.hooks.Thin(b.halved[conns], b.halved[packets]); err != nil {
		return err
	}
	return s.noteShares(before)
}

// noteShares writes down which shares have changed now.
func (s *session) noteShares(before [classes]uint32) error {
	at, seen := s.wall(mono()), s.budget.seen(s.acct, s.opt.Events)
	for c := range classes {
		if s.budget.halved[c] == before[c] {
			continue
		}
		ch := schema.ShareChange{Class: schema.Classes[c], Of: 1 << s.budget.halved[c], SinceNS: at}
		if c == conns {
			ch.Seen = seen
		}
		s.budget.list.Changes = append(s.budget.list.Changes, ch)
		if err := s.metaRow(schema.KeyShare, ch); err != nil {
			return err
		}
	}
	s.writer.budget.Store(s.budget.said())
	return nil
}

// seen is how often events of connections have happened so far.
func (b *budget) seen(a *account, events []*schema.Event) (list []schema.Seen) {
	for _, e := range events {
		if e.Class() == schema.ClassConns {
			sum := a.sum(e)
			list = append(list, schema.Seen{Event: e.Name, Kept: sum.generated, Left: sum.thinned})
		}
	}
	return list
}

// measure is what happened since the last step.
func (b *budget) measure(a *account, events []*schema.Event, now time.Time) load {
	user, sys := cpuTime()
	l := load{wall: now.Sub(b.last), recorder: float64(user + sys - b.cpu)}
	b.last, b.cpu = now, user+sys
	for _, e := range events {
		sum := a.sum(e)
		since := sum.less(b.counts[e.ID])
		b.counts[e.ID] = sum
		b.add(&l, e, since)
	}
	return l
}

// add takes what an event has done.
func (b *budget) add(l *load, e *schema.Event, since sample) {
	var t schema.ProbeTime
	t.Add(e, since.generated)
	w := &l.always
	switch e.Class() {
	case schema.ClassConns:
		w = &l.hot[conns]
		w.passed += float64(since.thinned)
	case schema.ClassPackets: // nobody counts those that are not drawn, but chance is reliable
		w = &l.hot[packets]
		runs := float64(since.generated) * scale(b.halved[packets]) / b.drawn
		w.passed += runs*programs(e) - float64(since.generated)
		l.always.ns += runs * b.beside[e.ID] * schema.PassedPacketNS
	}
	w.rows += float64(since.generated - since.ring - since.scratch)
	w.ns += t.NS
}

// programs is how many run for one event that is drawn: one for a packet, two for what begins and
// ends.
func programs(e *schema.Event) float64 {
	if e.Thin == schema.ByPacket {
		return 1
	}
	return 2
}

// beside counts, for each event of packets, the programs of rare events at the same places: they
// run for every packet, too, and have next to no rows to be counted by. Joined with the event's own
// they are no further run, but as much work.
func beside(plans []hook.Plan) []float64 {
	rare := map[string]map[string]bool{} // programs by place
	for _, p := range plans {
		for _, h := range p.Hooks {
			if p.Event.Class() == "" {
				if rare[h.String()] == nil {
					rare[h.String()] = map[string]bool{}
				}
				rare[h.String()][h.Prog] = true
			}
		}
	}
	n := make([]float64, schema.MaxID)
	for _, p := range plans {
		for _, h := range p.Hooks {
			if p.Event.Thin == schema.ByPacket {
				n[p.Event.ID] += float64(len(rare[h.String()]))
				delete(rare, h.String()) // once, where several events are seen there
			}
		}
	}
	return n
}

// sum is the account of an event over all CPUs.
func (a *account) sum(e *schema.Event) (sum sample) {
	for cpu := range a.counters.cpus {
		s := a.counters.read(e.ID, cpu)
		sum.generated += s.generated
		sum.ring += s.ring
		sum.scratch += s.scratch
		sum.thinned += s.thinned
	}
	return sum
}

// less is what came after an earlier account.
func (s sample) less(before sample) sample {
	s.generated -= before.generated
	s.ring -= before.ring
	s.scratch -= before.scratch
	s.thinned -= before.thinned
	return s
}

func percent(part float64) string { return fmt.Sprintf("%g%%", 100*part) }
