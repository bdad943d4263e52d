package record

import (
	"sync/atomic"
	"time"
)

// DefaultWithin is the time within which a row is to be on disk, and so what a crash may lose.
const DefaultWithin = time.Second

const (
	idleEvery     = 10 * time.Second // with nothing but what the recorder itself used
	slowForgotten = 8                // a slow commit is forgotten by an eighth with each other one
)

// pace is how often to commit: as seldom as the promise allows, because each commit costs the
// file some kilobytes of metadata; more often where they take long, on a slow disk or among
// many busy processes.
type pace struct {
	within time.Duration
	took   atomic.Int64 // ns, of slow commits lately
}

// usual is the time between commits that take none.
func (p *pace) usual() time.Duration { return p.within * 3 / 4 }

// note takes the time from the moment a commit was due until it was written.
func (p *pace) note(took time.Duration) {
	old := p.took.Load()
	p.took.Store(max(int64(took), old-old/slowForgotten))
}

// every is the time from one commit to the next. The next one may well take twice as long,
// and a little is kept for what cannot be foreseen.
func (p *pace) every() time.Duration {
	onDisk, least := p.within*9/10, p.within/4 // faster than this only for want of memory
	return max(least, min(p.usual(), onDisk-2*time.Duration(p.took.Load())))
}
