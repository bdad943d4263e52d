package record

import (
	"sync/atomic"
	"time"
)

// A row is to be on disk within a second. Commits come as seldom as that allows: each
// costs the file some kilobytes of metadata.
const (
	onDiskWithin  = 900 * time.Millisecond // a little is kept for what cannot be foreseen
	commitEvery   = 750 * time.Millisecond
	commitAtMost  = 250 * time.Millisecond // faster than this only for want of memory
	idleEvery     = 10 * time.Second       // with nothing but what the recorder itself used
	slowForgotten = 8                      // a slow commit is forgotten by an eighth with each other one
)

// pace is how often to commit: less time between commits where they take long, on a
// slow disk or among many busy processes.
type pace struct{ took atomic.Int64 } // ns, of slow commits lately

// note takes the time from the moment a commit was due until it was written.
func (p *pace) note(took time.Duration) {
	old := p.took.Load()
	p.took.Store(max(int64(took), old-old/slowForgotten))
}

// every is the time from one commit to the next. The next one may well take twice as long.
func (p *pace) every() time.Duration {
	return max(commitAtMost, min(commitEvery, onDiskWithin-2*time.Duration(p.took.Load())))
}
