package record

import (
	"errors"
	"time"
)

// stalledAfter is how long the disk may take to answer before the user hears of it.
const stalledAfter = 5 * time.Second

// ErrStalled says that a recording was given up because its disk does not answer.
var ErrStalled = errors.New("gave up waiting for the disk: what is not in the file is lost")

// stalled is for how long the disk has not answered, 0 if that is nothing to tell of.
func (w *writer) stalled(now time.Time) time.Duration {
	if d := w.waits.For(now); d >= stalledAfter {
		return d
	}
	return 0
}

// watchDisk tells of a disk that does not answer, and that it does again, until done is closed.
func (s *session) watchDisk(done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var longest time.Duration
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			d := s.writer.stalled(now)
			switch {
			case d > 0 && longest == 0:
				s.notice(AboutFile, "the disk has not answered for %s; events wait in memory; when it is full, they are lost and counted", d.Round(time.Second))
			case d == 0 && longest > 0:
				s.notice(AboutFile, "the disk answered after %s", longest.Round(time.Second))
			}
			longest = d
		}
	}
}

// finishOrGiveUp ends the recording in order. A disk that does not answer can keep that for
// ever, so the user hears of it, and another signal ends the wait.
func (s *session) finishOrGiveUp(cause error) (*Summary, error) {
	type ending struct {
		sum *Summary
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		sum, err := s.finish(cause)
		ended <- ending{sum, err}
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for told := false; ; {
		select {
		case e := <-ended:
			return e.sum, e.err
		case now := <-tick.C:
			if s.writer.stalled(now) > 0 && !told {
				told = true
				s.notice(AboutFile, "waiting for the disk to finish the file; press Ctrl-C again to give up what is not written")
			}
		case <-s.signals:
			if told {
				return nil, errors.Join(cause, ErrStalled)
			}
		}
	}
}
