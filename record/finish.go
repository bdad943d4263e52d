package record

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"netrec/record/host"
	"netrec/schema"
)

// Summary is what a recording amounted to.
type Summary struct {
	Counts   []schema.Count
	Path     string // of the newest file, where its name was chosen by time
	Files    int
	Rows     int64 // events in the files
	Bytes    int64
	Duration time.Duration
	UserNS   int64 // of all its life, attaching included
	SysNS    int64
	Spent    schema.Spent // of Duration
	RSS      int64
	Budget   *schema.Budget // nil for none; its times count from the start
	Rooted   time.Duration
	Attach   time.Duration // how long it took to attach the hooks, before Duration
	End      string
	Exit     int // of the command, if it ended the recording
}

// abort undoes what prepare had done.
func (s *session) abort() {
	if s.child != nil {
		s.child.Cancel()
	}
	if s.hooks != nil {
		_ = s.hooks.Close()
		s.hooks.Release()
	}
	s.reader.Stop()
	if s.writer != nil {
		s.writer.finish(s.drain.pile)
		s.file = s.writer.file
	}
	if s.file != nil {
		s.file.Remove(cmp.Or(s.path, s.opt.Output))
		_ = s.file.Close()
	}
	if s.files != nil {
		_ = s.files.Close()
	}
}

// finish ends every recording alike: detach, drain the rings to empty, final commit.
func (s *session) finish(cause error) (*Summary, error) {
	if s.end == "" {
		s.end = "error"
	}
	s.discardNext()
	turned := s.lastTurn()
	errs := []error{cause, turned, s.newcomers(), s.hooks.Stop()}
	s.stopped = mono()
	s.meta.StopNS, s.meta.End = s.wall(s.stopped), s.end
	s.cost()
	s.counts.flush(s.drain.pile, s.acct, s.stopped, s.header)
	errs = append(errs, s.hooks.Close(), s.newLibraries(), s.newModules())
	s.settle()
	for s.counts.owes() && s.drain.pile.n > 0 {
		s.drain.pile = s.writer.push(s.drain.pile)
		s.counts.flush(s.drain.pile, s.acct, s.stopped, s.header)
	}
	errs = append(errs, s.acct.look(s.drain.pile, mono(), s.header, true))
	s.writer.finish(s.drain.pile)
	s.file = s.writer.file
	s.warnLost()
	s.noNames()
	errs = append(errs, s.writeLastLosses(), s.unended())
	errs = append(errs, s.close()...)
	sum := s.summary()
	s.drain.close()
	s.hooks.Release()
	s.reader.Stop()
	return sum, errors.Join(errs...)
}

// lastTurn goes on in the next file where that is due: it gets what every file begins with.
func (s *session) lastTurn() error {
	for s.drain.pile.then != nil {
		if handed, err := s.handOver(time.Now()); handed {
			return err
		}
		time.Sleep(moment)
	}
	return nil
}

// settle drains until the account balances: a probe that was running when its hook
// was closed may still submit for a moment. The recording lasts until the newest row.
func (s *session) settle() {
	defer s.outlast()
	for range 50 {
		s.drain.all()
		for s.drain.full {
			s.outlast()
			s.drain.pile = s.writer.push(s.drain.pile)
			s.drain.all()
		}
		var pending int64
		for _, e := range s.opt.Events {
			for cpu := range s.cpus {
				c := s.acct.counters.read(e.ID, cpu)
				pending += c.generated - c.ring - c.scratch
			}
		}
		if pending == s.drain.total {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// outlast lets the recording have stopped when the newest row was made, if that was later: a CPU may
// have stood still in a probe.
func (s *session) outlast() {
	if at := int64(s.drain.pile.newest()); at > s.stopped {
		s.stopped, s.meta.StopNS = at, s.wall(at)
	}
}

// writeLastLosses adds rows about what the last commits lost, rows about losses included; they
// are written with the last footer, for which the file has kept room.
func (s *session) writeLastLosses() error {
	p := newPile(s.cpus, &s.writer.pool)
	err := errors.Join(s.writer.unsaid.say(p), s.acct.look(p, mono(), s.header, true))
	return errors.Join(err, s.writer.add(p))
}

// unended is an error where a file before the last could not be ended in order: its rows are there, and
// what its end would have said is not.
func (l *loop) unended() error {
	if err := l.writer.unended.Load(); err != nil {
		return fmt.Errorf("end a file before the last: %w", *err)
	}
	return nil
}

// warnLost tells the user, once each, that commits are being lost and that a file has no end.
func (s *session) warnLost() {
	if err := s.unended(); err != nil && s.once("a file without an end") {
		s.notice(AboutFile, "%v; its rows are kept, recording goes on", err)
	}
	if err := s.writer.trouble.Load(); err != nil && s.once("lost commits") {
		s.notice(AboutFile, "%v; recording goes on, what cannot be written is counted", *err)
	}
}

func (s *session) close() []error {
	s.counter.Stop, _ = s.report.Counters.Read()
	_ = s.report.Counters.Close()
	s.report.Alive.Close()
	stop := host.Anchor("stop")
	if n := s.writer.lostNow.Load(); n > 0 {
		s.meta.Warnings = append(s.meta.Warnings, fmt.Sprintf("%d commits could not be written, last: %v", n, *s.writer.trouble.Load()))
	}
	var errs []error
	if s.budget != nil {
		s.budget.list.End = s.budget.seen(s.acct, s.opt.Events)
		errs = append(errs, s.file.Set(schema.KeyBudget, s.budget.said()))
	}
	for key, v := range map[string]any{schema.KeyClock: []schema.Anchor{s.start, stop}, schema.KeyRecording: s.meta,
		schema.KeyCounters: s.counter, schema.KeyLosses: s.writer.shares.rest(s.acct.counts())} {
		errs = append(errs, s.file.Set(key, v))
	}
	s.writer.waits.Begin()
	errs = append(errs, s.file.Close())
	s.writer.waits.End()
	if s.files == nil {
		return errs
	}
	// The recording is whole whatever becomes of older ones.
	if err := errors.Join(s.prune(), s.files.Close()); err != nil {
		s.notice(AboutFile, "%v", err)
	}
	return errs
}

func (s *session) summary() *Summary {
	sum := &Summary{Counts: s.acct.counts(), Path: s.path, Files: s.meta.Part.Index, Bytes: s.writer.done0 + s.file.Taken(), End: s.end, RSS: rss(),
		Rooted: s.rooted, Attach: s.attaching, Duration: time.Duration(s.meta.StopNS - s.meta.Part.BeganNS)}
	sum.UserNS, sum.SysNS = cpuTime()
	if s.budget != nil {
		sum.Budget = s.budget.said()
		for i := range sum.Budget.Changes {
			sum.Budget.Changes[i].SinceNS -= s.meta.Part.BeganNS
		}
	}
	sum.Spent = s.spent(sum)
	for _, c := range sum.Counts {
		sum.Rows += c.Recorded
	}
	if s.end == "command" {
		sum.Exit = s.exit
	} else if s.child != nil {
		s.notice(AboutCommand, "the command was left running, process %d", s.child.Pid())
	}
	return sum
}

// spent is what the recording cost its host from start to stop.
func (s *session) spent(sum *Summary) schema.Spent {
	sp := schema.Spent{CPUs: s.report.Host.CPUs, Length: int64(sum.Duration), Noted: int64(s.last.TS - s.first.TS),
		Recorder: s.last.UserNS + s.last.SysNS - s.first.UserNS - s.first.SysNS, Bytes: sum.Bytes}
	sp.Probes.More = s.meta.Picks(s.hooks.States(s.wall)) || sum.Budget.Least(schema.ClassPackets) > 1
	for _, c := range sum.Counts {
		if e := schema.ByName(c.Event); !e.Counts() {
			sp.Probes.Add(e, c.Generated-c.Nested) // of those passed over the probe did not run
			sp.Probes.Pass(c.Thinned)
		}
	}
	for _, e := range s.opt.Events {
		sp.Probes.Add(e, s.acct.calls[e.ID].Load())
	}
	return sp
}
