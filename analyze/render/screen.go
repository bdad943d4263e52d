package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Columns that a screen has, unless the terminal has fewer.
const screenColumns = 100

// screen is how much of an answer text may show at once.
type screen struct {
	fits   bool // what does not fit is left out
	term   Terminal
	limits int // lines of limits; 0 for all
}

// All makes text print everything, also what does not fit a screen.
func (o *Output) All() { o.all = true }

// Fits reports whether the answer is text for people that has to fit a screen: no other format is
// cut, nor text of which all or one table was asked for.
func (s *screen) Fits() bool { return s.fits }

// MostLimits is how many lines say what limits an answer that has to fit a screen.
func (s *screen) MostLimits(n int) { s.limits = n }

// Columns is how wide a line of such an answer may be.
func (s *screen) Columns() int {
	if w := s.term.Width; w > 0 && w < screenColumns {
		return w
	}
	return screenColumns
}

// cut leaves out limits beyond the most, the less serious ones, and says how many.
func (s *screen) cut(limits []string) []string {
	if !s.fits || s.limits == 0 {
		return limits
	}
	var ls []string
	for i, l := range limits {
		if i == s.limits-1 && len(limits) > s.limits {
			return append(ls, fmt.Sprintf("%d further limits: --all shows them", len(limits)-i))
		}
		if i > 0 { // the most serious one says what to do
			l = Shorten(l, s.Columns()-len("# overview: "))
		}
		ls = append(ls, l)
	}
	return ls
}

// Shorten cuts a text that is longer than so many characters.
func Shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// Wrap breaks a text between words into at most so many lines; what is left is cut.
func Wrap(text string, width, lines int) []string {
	var ls []string
	for utf8.RuneCountInString(text) > width && len(ls) < lines-1 {
		head := string([]rune(text)[:width+1])
		i := strings.LastIndexByte(head, ' ')
		if i <= 0 {
			break
		}
		ls, text = append(ls, text[:i]), text[i+1:]
	}
	return append(ls, Shorten(text, width))
}
