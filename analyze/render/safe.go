package render

import (
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendSafe adds untrusted bytes in a form that cannot steer a terminal or
// reorder a line: control characters and bytes that are not UTF-8 become \x1b,
// formatting runes become \u202e, a backslash is doubled so that escapes are
// unambiguous.
func AppendSafe(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case r < 0xa0 || r == utf8.RuneError && n == 1:
			// Two-byte C1 controls are shown by their code point.
			if n == 1 {
				r = rune(c)
			}
			dst = append(dst, '\\', 'x', hexDigits[r>>4], hexDigits[r&15])
		case steers(r):
			dst = appendU(dst, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}

// steers reports runes that are invisible or change the order of what is around
// them: bidi marks, embeddings, overrides and isolates, zero-width and line
// separators, byte order mark, tags.
func steers(r rune) bool {
	switch {
	case r == 0x061c, r == 0x180e, r == 0xfeff, r == 0x00ad:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

func appendU(dst []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		dst = appendU(dst, 0xd800+r>>10)
		return appendU(dst, 0xdc00+r&0x3ff)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendJSON adds s as a JSON string. Bytes that are not UTF-8 become U+FFFD,
// since JSON has no way to carry them.
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < 0xa0 || steers(r) || r == utf8.RuneError {
			dst = appendU(dst, r)
		} else {
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

// appendCSV adds s as a CSV field: made safe, quoted where needed, and with a
// leading apostrophe where a spreadsheet would take it for a formula.
func appendCSV(dst []byte, s string) []byte {
	start := len(dst)
	if s != "" {
		switch s[0] {
		case '=', '+', '-', '@', '\t', '\r':
			dst = append(dst, '\'')
		}
	}
	dst = AppendSafe(dst, s)
	quote := false
	for _, c := range dst[start:] {
		if c == ',' || c == '"' || c == ';' {
			quote = true
			break
		}
	}
	if !quote {
		return dst
	}
	field := string(dst[start:])
	dst = append(dst[:start], '"')
	for i := range len(field) {
		if field[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, field[i])
	}
	return append(dst, '"')
}
