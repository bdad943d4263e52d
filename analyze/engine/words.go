package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// looksLikePath reports words that are meant as files whether or not they are there.
// No analysis and no address looks like that.
func looksLikePath(word string) bool {
	return strings.ContainsAny(word, `/*?[`) || strings.HasSuffix(word, ".parquet")
}

// word takes the name of an analysis, the argument of the one before, or a file.
func (p *parser) word(word string) error {
	n := len(p.req.Calls)
	if n > 0 && p.req.Calls[n-1].words(word) {
		return nil
	}
	if looksLikePath(word) {
		p.req.Files = append(p.req.Files, word)
		return nil
	}
	if n > 0 && p.req.Calls[n-1].lacksArg() {
		return p.req.Calls[n-1].address(word)
	}
	if word == everything {
		p.everything()
		return nil
	}
	a, options := find(p.all, word)
	if a == nil {
		return p.stranger(word)
	}
	p.req.Calls = append(p.req.Calls, Call{Analysis: a, Options: map[string]string{}})
	p.args = slices.Concat(options, p.args)
	return nil
}

// lacksArg reports a call whose argument is still to come.
func (c *Call) lacksArg() bool { return c.Analysis.Arg != "" && c.Addr == 0 && c.Word == "" }

// words takes the argument of an analysis that knows others than addresses, if it is one.
func (c *Call) words(word string) bool {
	if !c.lacksArg() || c.Analysis.Words == nil || c.Analysis.Words(word) != nil {
		return false
	}
	c.Word = word
	return true
}

// address takes the argument of an analysis.
func (c *Call) address(word string) error {
	v, err := ParseAddr(word)
	if err != nil && c.Analysis.Words != nil {
		err = c.Analysis.Words(word)
	}
	if err != nil {
		return &UsageError{Msg: fmt.Sprintf("analysis %s: %v", c.Analysis.Name, err)}
	}
	c.Addr = v
	return nil
}

// stranger takes a word that is no analysis.
func (p *parser) stranger(word string) error {
	_, err := os.Lstat(word)
	if err == nil || len(p.req.Files) == 0 && len(p.req.Calls) == 0 {
		p.req.Files = append(p.req.Files, word)
		return nil
	}
	e := &UsageError{Msg: fmt.Sprintf("no analysis %q", word), Meant: "netrec analyze --list shows all of them"}
	if s := SuggestAnalysis(p.all, word); s != "" {
		e.Meant = fmt.Sprintf("did you mean %s?", s)
	}
	return e
}

// SuggestAnalysis is the name or alias closest to a wrong one, "" if none is near.
func SuggestAnalysis(all []*Analysis, wrong string) string { return Suggest(wrong, names(all)) }
