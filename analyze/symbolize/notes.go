package symbolize

import (
	"fmt"
	"strings"
)

// maxNotes is how many builds are said by name.
const maxNotes = 8

// Notes says what was named from debug files in the stacks read so far, and what was not
// and why.
func (s *Source) Notes() []string {
	var out []string
	rest, restFrames := 0, int64(0)
	for _, b := range s.order {
		if len(out) >= maxNotes {
			rest++
			restFrames += b.unnamed
			continue
		}
		if b.named > 0 {
			out = append(out, s.saysNamed(b))
		}
		if b.unnamed > 0 {
			out = append(out, s.saysUnnamed(b))
		}
	}
	if rest > 0 {
		out = append(out, fmt.Sprintf("further builds: %d, with %s without a name", rest, count(restFrames)))
	}
	if s.more {
		out = append(out, fmt.Sprintf("too many different frames: these numbers are of the first %d", len(s.frames)))
	}
	return append(out, s.files.problems()...)
}

func (s *Source) saysNamed(b *build) string {
	text := fmt.Sprintf("named from a debug file: %s of %s, build id %s", count(b.named), b.name, b.id)
	if o := s.files.object(b.id); o.lacks() != "" {
		text += "; without inlined functions: " + o.lacks()
	}
	return text
}

func (s *Source) saysUnnamed(b *build) string {
	text := fmt.Sprintf("without a name: %s of %s, build id %s; ", count(b.unnamed), b.name, b.id)
	switch {
	case s.files == nil:
		return text + "--symbols DIR tells, if DIR has its debug file"
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
