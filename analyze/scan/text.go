package scan

import (
	"fmt"
	"unicode/utf8"

	"netrec/schema"
)

// Bytes of the longest string that a recorder writes: stacks and facts, and all others, of
// which paths are the longest. Longer ones are cut when they are decoded, so that nobody
// keeps a million bytes for the name of a process.
const (
	maxLong  = 65 << 10
	maxShort = 4 << 10
)

// textLimits has the bytes that are kept of a string, by column.
var textLimits = func() []int {
	limits := make([]int, len(schema.Columns))
	for i := range limits {
		limits[i] = maxShort
	}
	for i := range schema.Events {
		for _, f := range schema.Events[i].Fields() {
			switch f.As {
			case schema.AsKstack, schema.AsUstack, schema.AsRef:
				limits[f.Column] = maxLong
			}
		}
	}
	return limits
}()

// cut shortens a string that is longer than its column allows, and says so in its place: then
// every answer that shows it does.
func (s *column) cut(v []byte) []byte {
	most := textLimits[s.c.col]
	if len(v) <= most {
		return v
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(v[end]) {
		end--
	}
	s.short = append(s.short[:0], v[:end]...)
	s.short = fmt.Appendf(s.short, "… (cut, %s)", plural(int64(len(v)), "byte"))
	return s.short
}
