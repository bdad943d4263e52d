package symbol

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long a file of an observed process is waited for. A network or
// FUSE file system may never answer; names are not worth a stalled recording.
const Patience = 2 * time.Second

// maxStuck is how many waits may be abandoned at a time; beyond it files are not
// opened at all until one of them ends.
const maxStuck = 4

// guard runs what may hang or trip over hostile input.
type guard struct{ slots chan struct{} }

func newGuard() guard { return guard{make(chan struct{}, maxStuck)} }

var errStuck = errors.New("file system does not answer")

// guarded calls f on a goroutine of its own and gives up after Patience.
func guarded[T any](g guard, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case g.slots <- struct{}{}:
	default:
		return none, errStuck
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("read: %v", p)}
			}
			<-g.slots
			done <- r
		}()
		r.value, r.err = f()
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		return none, errStuck
	}
}

// fileID tells whether a file is the one that was read before.
type fileID struct {
	dev, ino    uint64
	mtime, size int64
}

func idOf(st *unix.Stat_t) fileID {
	return fileID{uint64(st.Dev), st.Ino, st.Mtim.Nano(), st.Size}
}
