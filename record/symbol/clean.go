package symbol

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one name in a stack: mangled C++ names have no end of their own.
const maxText = 512

// clean makes an untrusted name fit for a folded stack: valid UTF-8, no control
// characters, no separator, and of bounded length.
func clean(s string) string {
	plain := len(s) <= maxText
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f && s[i] != ';'
	}
	if plain {
		return s
	}
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

func hex(addr uint64) string { return "0x" + strconv.FormatUint(addr, 16) }
