// Package words writes numbers, nouns and names as people read them. It knows nothing of recordings.
//
// Start with Thousands.
package words

import "strconv"

// Thousands writes a number with its thousands apart: 1,234,567.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is "1 session" or "3 sessions".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Count is Plural for nouns that take an s: "1 row", "1,234 rows".
func Count(n int64, noun string) string { return Plural(n, noun, noun+"s") }

// Clip is a name that comes from a file, short enough for a message.
func Clip[T string | []byte](name T) string {
	const longest = 128
	if len(name) > longest {
		return string(name[:longest]) + "…"
	}
	return string(name)
}
