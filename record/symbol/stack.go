package symbol

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of stacks: frames of one (the kernel gives at most 127), bytes of one, and
// bytes of all that are remembered.
const (
	maxFrames     = 256
	maxStackBytes = 64 << 10
	maxCacheBytes = 16 << 20
	stackOverhead = 128
)

// Stacks writes stacks in folded form and remembers them, since events repeat few
// different ones. It may be used by several goroutines.
type Stacks struct {
	Kernel *Kernel // nil: kernel frames stay addresses
	User   *User   // nil: so do user frames

	mu    sync.Mutex
	seed  maphash.Seed
	cache *lru[uint64, folded]
	hash  []byte // scratch
}

// folded is a stack as text. One that may get better names later is used until
// then only.
type folded struct {
	text  string
	until time.Time // zero: for good
}

// New returns an empty cache of stacks.
func New(k *Kernel, u *User) *Stacks {
	return &Stacks{Kernel: k, User: u, seed: maphash.MakeSeed(), cache: newLRU[uint64, folded](maxCacheBytes)}
}

// Stack folds frames, given innermost first, to names from the outermost to the
// innermost, joined by semicolons. It ends at the first zero frame. pid matters to
// user stacks only.
func (s *Stacks) Stack(user bool, pid int32, frames []uint64) string {
	for i, f := range frames {
		if f == 0 || i == maxFrames {
			frames = frames[:i]
			break
		}
	}
	if len(frames) == 0 {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !user {
		return s.fold(0, frames, s.Kernel.hidden, s.Kernel.frame)
	}
	if s.User == nil {
		return s.fold(0, frames, nil, func(_, addr uint64) (string, bool) { return hex(addr), true })
	}
	s.User.mu.Lock()
	defer s.User.mu.Unlock()
	p := s.User.process(pid)
	return s.fold(p.gen, frames, nil, func(at, addr uint64) (string, bool) { return s.User.frame(p, at, addr) })
}

// fold looks a stack up in the cache or names its frames. gen tells programs apart, hidden
// marks frames to leave out, nil for none.
func (s *Stacks) fold(gen uint64, frames []uint64, hidden func(at, addrs []uint64) []bool, name func(at, addr uint64) (string, bool)) string {
	s.hash = binary.NativeEndian.AppendUint64(s.hash[:0], gen)
	for _, f := range frames {
		s.hash = binary.NativeEndian.AppendUint64(s.hash, f)
	}
	key := maphash.Bytes(s.seed, s.hash)
	if c, ok := s.cache.get(key); ok && (c.until.IsZero() || time.Now().Before(c.until)) {
		return c.text
	}
	at := calls(frames)
	skip := make([]bool, len(frames))
	if hidden != nil {
		skip = hidden(at, frames)
	}
	var b strings.Builder
	complete := true
	for i := len(frames) - 1; i >= 0; i-- {
		if skip[i] {
			continue
		}
		text, ok := name(at[i], frames[i])
		complete = complete && ok
		if b.Len()+len(text) > maxStackBytes {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(text)
	}
	c := folded{text: b.String()}
	if !complete && gen != 0 {
		c.until = time.Now().Add(missEvery)
	}
	s.cache.put(key, c, len(c.text)+stackOverhead)
	return c.text
}

// calls is where the frames are in their functions: all but the innermost are return
// addresses, the call is before them and may be the last instruction of its function.
func calls(frames []uint64) []uint64 {
	at := slices.Clone(frames)
	for i := 1; i < len(at); i++ {
		at[i]--
	}
	return at
}
