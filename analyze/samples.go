package analyze

import (
	"cmp"
	"strings"
)

// sample is what was found on a CPU.
type sample struct {
	kernel, user, comm string
	pid                int64
}

func (s sample) compare(o sample) int {
	return cmp.Or(cmp.Compare(s.comm, o.comm), cmp.Compare(s.pid, o.pid), cmp.Compare(s.kernel, o.kernel), cmp.Compare(s.user, o.user))
}

// folded is a stack on one line: process, user frames, kernel frames, outermost first.
func (s sample) folded(delimited, annotated bool) string {
	parts := []string{s.comm}
	if s.user != "" {
		parts = append(parts, withoutOffsets(s.user, ""))
	}
	if s.user != "" && s.kernel != "" && delimited {
		parts = append(parts, "-")
	}
	if s.kernel != "" {
		suffix := ""
		if annotated {
			suffix = "_[k]"
		}
		parts = append(parts, withoutOffsets(s.kernel, suffix))
	}
	return strings.Join(parts, ";")
}

// withoutOffsets is a folded stack without +0x…, each function followed by the suffix.
func withoutOffsets(folded, suffix string) string {
	frames := strings.Split(folded, ";")
	for i := range frames {
		frames[i], _, _ = strings.Cut(frames[i], "+0x")
		frames[i] += suffix
	}
	return strings.Join(frames, ";")
}
