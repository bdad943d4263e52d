package symbol

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"netrec/schema"
)

// Bounds of stacks: frames of one (the kernel gives at most 127), bytes of one, and
// bytes of all that are remembered.
const (
	maxFrames     = 256
	maxStackBytes = 64 << 10
	maxCacheBytes = 4 << 20 // some thousand: those of samples are nearly all different, and would fill any
	stackOverhead = 128
)

// Stacks writes stacks in folded form and remembers them, since events repeat few
// different ones. It may be used by several goroutines; one that waits for names of a process,
// which may take long, keeps none of the others waiting.
type Stacks struct {
	Kernel *Kernel // nil: kernel frames stay addresses
	User   Namer   // nil: so do user frames

	seed  maphash.Seed
	mu    sync.Mutex // of the cache; never held while somebody is asked
	cache *lru[uint64, folded]
}

// Namer names addresses in the memory of processes: a User, or somebody who asks one.
type Namer interface {
	// Program is a number of the program in a process at a time, a new one whenever names may
	// have changed, and from when to when that holds; 0 for one that is gone.
	Program(pid int32, ts uint64) (gen, since, until uint64)
	// Frames names the functions that cover at, each with the offset of its address; nil if
	// addresses have to do, false where asking again later may give a better answer.
	Frames(pid int32, ts uint64, at, addrs []uint64) (names []string, complete bool)
	// Objects is the files that frames were found in, if they are more than those known.
	Objects(known int) []schema.Object
}

// folded is a stack as text. One that may get better names later is used until
// then only.
type folded struct {
	text  string
	until time.Time // zero: for good
}

// New returns an empty cache of stacks.
func New(k *Kernel, u Namer) *Stacks {
	return &Stacks{Kernel: k, User: u, seed: maphash.MakeSeed(), cache: newLRU[uint64, folded](maxCacheBytes)}
}

// Stack folds frames, given innermost first, to names from the outermost to the
// innermost, joined by semicolons. It ends at the first zero frame. The process and the time
// of the stack, monotonic ns, matter to user stacks only: a process may have become another
// program since.
func (s *Stacks) Stack(user bool, pid int32, ts uint64, frames []uint64) string {
	for i, f := range frames {
		if f == 0 || i == maxFrames {
			frames = frames[:i]
			break
		}
	}
	if len(frames) == 0 {
		return ""
	}
	if !user {
		return s.fold(0, frames, s.Kernel.frames)
	}
	if s.User == nil {
		return s.fold(0, frames, func(_, addrs []uint64) ([]string, bool) { return hexes(addrs), true })
	}
	gen, _, _ := s.User.Program(pid, ts)
	return s.fold(gen, frames, func(at, addrs []uint64) ([]string, bool) {
		if gen == 0 {
			return hexes(addrs), true
		}
		names, ok := s.User.Frames(pid, ts, at, addrs)
		if names == nil {
			names = hexes(addrs)
		}
		return names, ok
	})
}

// fold looks a stack up in the cache or names its frames. gen tells programs apart; a name of
// none leaves its frame out.
func (s *Stacks) fold(gen uint64, frames []uint64, name func(at, addrs []uint64) ([]string, bool)) string {
	key := s.key(gen, frames)
	if c, ok := s.known(key); ok {
		return c.text
	}
	names, complete := name(calls(frames), frames)
	var b strings.Builder
	for _, text := range slices.Backward(names) {
		if text == "" {
			continue
		}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.put(key, c, len(c.text)+stackOverhead)
	return c.text
}

func (s *Stacks) key(gen uint64, frames []uint64) uint64 {
	var scratch [8 * (maxFrames + 1)]byte
	b := binary.NativeEndian.AppendUint64(scratch[:0], gen)
	for _, f := range frames {
		b = binary.NativeEndian.AppendUint64(b, f)
	}
	return maphash.Bytes(s.seed, b)
}

// known is a stack from the cache, unless better names may be had by now.
func (s *Stacks) known(key uint64) (folded, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cache.get(key)
	return c, ok && (c.until.IsZero() || time.Now().Before(c.until))
}

// hexes is addresses as they are.
func hexes(addrs []uint64) []string {
	out := make([]string, len(addrs))
	for i, a := range addrs {
		out[i] = hex(a)
	}
	return out
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
