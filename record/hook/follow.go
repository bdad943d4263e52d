package hook

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf/link"

	"netrec/record/reader"
	"netrec/schema"
)

// Programs that start during the recording may bring a C library that no process had
// before, in a new container for one. The kernel tells of each file whose code is mapped
// (watch.go), which takes no privilege once the watch is open. Probing a file does: since
// 6.16, and in the stable series of 2025, CAP_SYS_ADMIN. So without a helper that keeps
// it (helper.go) such libraries are only written down.

// followPause is how long mappings are let gather once some have been dealt with: many
// programs start at a time, and a wake for each would cost more than they are worth.
const followPause = 5 * time.Millisecond

// rescanPause is how long after lost messages the processes are read again, at least.
const rescanPause = time.Second

// Following reports whether libraries that appear later get probes.
func (s *Set) Following() bool { return s.helper != nil }

// findLibraries looks for what is there. Messages of mappings gather from before that,
// so that no library falls between the two.
func (s *Set) findLibraries() (err error) {
	if !slices.ContainsFunc(s.conf.Events, (*schema.Event).Libraries) {
		return nil
	}
	if s.watch, err = newWatch(); err != nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("C libraries that appear during the recording are not noticed: %v", denied(schema.Perf, err)))
	}
	s.libs = newLibraries(s.conf.Reader, libraryFunctions(s.conf.Events))
	s.found, err = s.libs.atStart(s.conf.Libraries)
	for _, lib := range s.found {
		s.Libraries = append(s.Libraries, schema.Library{Path: lib.Name})
	}
	if w := s.libs.warning(); w != "" {
		s.Warnings = append(s.Warnings, w)
	}
	return err
}

// StartHelper starts the process that probes libraries as they appear. It keeps the
// privileges that this one is about to give up.
func (s *Set) StartHelper() error {
	if s.watch == nil || len(s.sites) == 0 {
		return nil
	}
	h, err := startHelper(s.sites, s.cookie)
	if err != nil {
		return fmt.Errorf("start the helper for libraries: %w", err)
	}
	s.helper = h
	return nil
}

// Follow tells found of each library that appears, until Close, on another goroutine; by
// then it has its probes, if there is a helper.
func (s *Set) Follow(found func(schema.Library)) {
	if s.watch == nil || len(s.sites) == 0 {
		return
	}
	s.following.Go(func() {
		var rescan time.Time
		for s.watch.wait() {
			lost := false
			for _, m := range s.watch.take(&lost) {
				s.meet(m, found)
			}
			if lost && time.Since(rescan) > rescanPause {
				c, _ := s.libs.reader.Candidates() // of a reader that is gone there are none
				for _, m := range c.Mapped {
					s.meet(m, found)
				}
				rescan = time.Now()
			}
			time.Sleep(followPause)
		}
	})
}

// meet deals with a library that a process has mapped.
func (s *Set) meet(m reader.Mapping, found func(schema.Library)) {
	if s.libs.known[m.ID] || len(s.libs.known) >= MaxLibraries {
		return
	}
	lib := schema.Library{Path: name(m.Path), Late: true}
	if s.helper == nil {
		s.libs.known[m.ID] = true
		found(lib)
		return
	}
	got, err := s.libs.reader.Mapped(m, s.libs.functions)
	if err != nil {
		return // the process has ended; the next one that has the library is met again
	}
	s.libs.known[m.ID] = true
	taken, err := s.libs.take(got, m.Path)
	switch {
	case err != nil:
		for _, at := range s.sites {
			lib.Refused = refuse(lib.Refused, at.hook, err)
		}
	case taken == nil:
		return // a file system in layers shows it under another number
	default:
		defer taken.file.Close()
		lib.Refused, lib.Probed = s.probeLate(taken)
	}
	found(lib)
}

// probeLate has the helper probe a library.
func (s *Set) probeLate(lib *Library) (refused []schema.Refusal, probed bool) {
	r, err := s.helper.probe(lib, s.conf.Ref(lib.Name))
	if err != nil {
		for _, at := range s.sites {
			refused = refuse(refused, at.hook, err)
		}
		return refused, false
	}
	return r.Refused, len(r.Refused) == 0
}

// refuse notes why a library has no probe in a function, unless it may lack that.
func refuse(refused []schema.Refusal, h schema.Hook, err error) []schema.Refusal {
	if err == nil || h.Optional && errors.Is(err, link.ErrNoSymbol) {
		return refused
	}
	return append(refused, schema.Refusal{Hook: h.String(), Why: short(err).Error()})
}

// stopFollowing returns when no more probes are attached. Those of the helper end with it.
func (s *Set) stopFollowing() error {
	if s.watch == nil {
		return nil
	}
	errs := []error{s.watch.stop()}
	s.following.Wait()
	if s.helper != nil {
		s.helper.process.Stop()
	}
	errs = append(errs, s.watch.close())
	s.watch, s.helper = nil, nil
	return errors.Join(errs...)
}
