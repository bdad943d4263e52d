package symbolize

import (
	"fmt"
	"strings"
)

// maxNotes is how many builds are said by name.
const maxNotes = 8

// Tally counts the different frames in the stacks that one answer is made of: a file is
// read with the stacks of all its events, and those of others do not concern it.
type Tally struct {
	src            *Source
	done           []bool // by number of the stack
	seen           map[frame]bool
	named, unnamed map[*build]int64
}

// Tally counts from nothing.
func (s *Source) Tally() *Tally {
	return &Tally{src: s, seen: map[frame]bool{}, named: map[*build]int64{}, unnamed: map[*build]int64{}}
}

// Stacks is a new tally as two functions: one takes the stack of a row, the other says what
// Notes does.
func (s *Source) Stacks() (saw func(text string), notes func() []string) {
	t := s.Tally()
	return t.Add, t.Notes
}

// Follow gives the stacks of all rows that are read from now on to a tally.
func (s *Source) Follow(t *Tally) { s.saw = t.Add }

// Add counts a stack as a row shows it.
func (t *Tally) Add(text string) {
	t.src.mu.Lock()
	defer t.src.mu.Unlock()
	st, ok := t.src.texts[text]
	if !ok || st.id < len(t.done) && t.done[st.id] {
		return
	}
	for len(t.done) <= st.id {
		t.done = append(t.done, false)
	}
	t.done[st.id] = true
	for _, f := range st.frames {
		if t.seen[f] {
			continue
		}
		t.seen[f] = true
		if len(t.src.names(f)) > 0 {
			t.named[f.build]++
		} else {
			t.unnamed[f.build]++
		}
	}
}

// Notes says what was named from debug files in the stacks counted, and what was not and why.
func (t *Tally) Notes() []string {
	t.src.mu.Lock()
	defer t.src.mu.Unlock()
	var out []string
	rest, restFrames := 0, int64(0)
	for _, b := range t.src.order {
		if t.named[b]+t.unnamed[b] == 0 {
			continue
		}
		if len(out) >= maxNotes {
			rest++
			restFrames += t.unnamed[b]
			continue
		}
		if n := t.named[b]; n > 0 {
			out = append(out, t.src.saysNamed(b, n))
		}
		if n := t.unnamed[b]; n > 0 {
			out = append(out, t.src.saysUnnamed(b, n))
		}
	}
	if rest > 0 {
		out = append(out, fmt.Sprintf("further builds: %d, with %s without a name", rest, count(restFrames)))
	}
	if t.src.more {
		out = append(out, fmt.Sprintf("too many different frames: these numbers are of the first %d frames and %d stacks", len(t.src.frames), len(t.src.texts)))
	}
	return append(out, t.src.files.problems()...)
}

func (s *Source) saysNamed(b *build, n int64) string {
	text := fmt.Sprintf("named from a debug file: %s of %s, build id %s", count(n), b.name, b.id)
	if o := s.files.object(b.id); o.lacks() != "" {
		text += "; without inlined functions: " + o.lacks()
	}
	return text
}

func (s *Source) saysUnnamed(b *build, n int64) string {
	text := fmt.Sprintf("without a name: %s of %s, build id %s; ", count(n), b.name, b.id)
	switch {
	case s.files == nil:
		return text + "--symbols DIR names them, if DIR has the debug file"
	case s.files.object(b.id) == nil:
		return text + "no debug file of it in " + strings.Join(s.files.dirs, ", ")
	}
	return text + "the file of it that was found has no function there"
}

func count(n int64) string {
	if n == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", n)
}
