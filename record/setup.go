package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netrec/record/hook"
)

// DefaultStart is for how long hooks are attached. It usually takes a second; on a host whose
// CPUs are taken it can take minutes, in which the recorder has privileges and records nothing.
// Service managers give up after 90 seconds.
const DefaultStart = time.Minute

// ErrInterrupted says that somebody ended a recording before it had begun.
var ErrInterrupted = errors.New("interrupted before the recording had begun")

// limit is for how long hooks are attached.
func (s *session) limit() time.Duration { return cmp.Or(s.opt.Start, DefaultStart) }

// setUp begins the recording. Its time is bounded, whatever it waits for: hooks are attached until
// the limit, and after twice that nothing is left but to end, with all privileges.
func (s *session) setUp(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.prepare(ctx) }()
	late := time.NewTimer(2 * s.limit())
	defer late.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				s.abort()
			}
			return err
		case <-s.signals:
			if s.quit.Swap(true) {
				s.leaveNothing()
				return ErrInterrupted // for good: what it waits for may never come
			}
		case <-late.C:
			s.leaveNothing()
			return fmt.Errorf("the start took more than %s, twice the limit of --start-within: ended with privileges still in place", 2*s.limit())
		}
	}
}

// leaveNothing takes away the file of a start that is given up while it is still under way. What
// the start waits for may be the disk, which then would not answer to this either.
func (s *session) leaveNothing() {
	f := s.made.Load()
	if f == nil {
		return
	}
	removed := make(chan struct{})
	go func() {
		f.Remove(cmp.Or(s.path, s.opt.Output))
		close(removed)
	}()
	select {
	case <-removed:
	case <-time.After(time.Second):
	}
}

// enough says why no further hook is to be attached.
func (s *session) enough() error {
	switch {
	case s.quit.Load():
		return ErrInterrupted
	case time.Since(s.begun) >= s.limit():
		return fmt.Errorf("not attached within %s of the start (--start-within)", s.limit())
	}
	return nil
}

// attachedSome looks at what came of attaching where that was cut short. Hooks come in the order of
// the profiles, so those that are left out are the hottest.
func (s *session) attachedSome() error {
	err := s.enough()
	if err == nil || errors.Is(err, ErrInterrupted) {
		return err
	}
	without := 0
	for _, p := range s.hooks.Plans {
		if len(p.Hooks) == 0 {
			without++
		}
	}
	if without == len(s.hooks.Plans) {
		return fmt.Errorf("no hook was attached within %s of the start (--start-within)", s.limit())
	}
	if slices.ContainsFunc(s.hooks.Plans, func(p hook.Plan) bool { return cutShort(p, err) }) {
		s.hooks.Warnings = append(s.hooks.Warnings, fmt.Sprintf("the CPUs were too busy: hooks were attached for %s, the limit of --start-within, and %d of %d events have none",
			s.limit(), without, len(s.hooks.Plans)))
	}
	return nil
}

// cutShort reports whether an event has fewer hooks for want of time.
func cutShort(p hook.Plan, late error) bool {
	for _, r := range p.Refused {
		if r.Why == late.Error() {
			return true
		}
	}
	return false
}

// drainAside takes rows from the rings and commits them beside the rest of the start, until the
// function that it returns is called.
func (s *session) drainAside() (end func() error) {
	quit, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-quit:
				ended <- nil
				return
			default:
			}
			now, err := s.takeRows(moment)
			if err = errors.Join(err, s.commitDue(now)); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error {
		close(quit)
		return <-ended
	}
}
