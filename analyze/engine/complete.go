package engine

import (
	"io"
	"strings"

	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Completion is what may follow on a command line that is not finished.
type Completion struct {
	Request           // of the words before
	Words   []Word    // the words that fit, all of them
	AnyFile bool      // the name of a file is wanted
	AnyDir  bool      // the name of a folder is wanted
	AddrOf  *Analysis // a kernel address of the kind that this analysis takes is wanted
	Open    bool      // a list separated by commas: a further value may follow at once
}

// Word is a candidate and what it means.
type Word struct{ Text, Doc string }

// Complete tells what may stand at the end of the arguments of analyze, in place of
// what is there so far. Mistakes in the words before it are for Parse to tell.
func Complete(all []*Analysis, first *Analysis, args []string, typed string) Completion {
	p := parser{all: all, first: Call{Analysis: first, Options: map[string]string{}}, req: Request{Options: map[string]string{}}}
	pending := p.walk(args)
	c := Completion{Request: p.req}
	name, value, given := strings.Cut(typed, "=")
	switch {
	case pending != nil && addressed(all, pending.Name) != nil:
		c.AddrOf = addressed(all, pending.Name)
	case pending != nil:
		c.value(pending, "", typed)
	case given && strings.HasPrefix(name, "--"):
		if o, _ := p.declared(strings.TrimLeft(name, "-"), false); o != nil {
			c.value(o, name+"=", value)
		}
	case strings.HasPrefix(typed, "-"):
		c.options(&p)
	case len(p.req.Files) == 0:
		c.AnyFile = true
	case p.wantsAddr() != nil:
		c.AddrOf = p.wantsAddr()
	default:
		for _, a := range all {
			c.Words = append(c.Words, Word{a.Name, a.Question})
		}
		c.Words = append(c.Words, Word{everything, "every analysis that needs no argument"})
	}
	return c
}

// addressed is the analysis that takes the kind of address that an option of its name does.
func addressed(all []*Analysis, option string) *Analysis {
	if a := Find(all, option); a != nil && a.Arg != "" {
		return a
	}
	return nil
}

// walk takes all words that it understands, and gives the option whose value is to come.
func (p *parser) walk(args []string) *Option {
	p.args = args
	for len(p.args) > 0 {
		a := p.args[0]
		p.args = p.args[1:]
		switch {
		case len(a) > 1 && a[0] == '-':
			o, _ := p.declared(strings.TrimLeft(a, "-"), !strings.HasPrefix(a, "--"))
			if len(p.args) == 0 && o != nil && o.Kind != Flag && o.Implied == "" {
				return o
			}
			_ = p.option(a)
		default:
			_ = p.word(a)
		}
	}
	return nil
}

// wantsAddr is the analysis named last, if its argument is still to come.
func (p *parser) wantsAddr() *Analysis {
	if n := len(p.req.Calls); n > 0 && p.req.Calls[n-1].lacksArg() {
		return p.req.Calls[n-1].Analysis
	}
	return nil
}

// value offers the values of an option, each behind a prefix.
func (c *Completion) value(o *Option, prefix, typed string) {
	switch {
	case o.Name == "output" && prefix == "":
		c.AnyFile = true
	case o.Kind == Folders && prefix == "":
		c.AnyDir = true
	case o.Name == "table":
		for _, call := range c.Calls {
			for _, t := range tables(call) {
				c.Words = append(c.Words, Word{prefix + t, "of " + call.Analysis.Name})
			}
		}
	case o.Kind == Choices:
		c.Open = true
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			prefix += typed[:i+1]
		}
		fallthrough
	case o.Kind == Choice, o.Kind == Several:
		for _, v := range o.Choices {
			c.Words = append(c.Words, Word{Text: prefix + v})
		}
	}
}

// options offers those of the analysis named last, then those of all.
func (c *Completion) options(p *parser) {
	call := &p.first
	if n := len(p.req.Calls); n > 0 {
		call = &p.req.Calls[n-1]
	}
	own := call.Analysis.Options
	if call.Implied {
		own = nil
	}
	for _, o := range own {
		c.Words = append(c.Words, Word{"--" + o.Name, o.Doc})
	}
	for _, o := range Global {
		if lookup(own, o.Name, false) == nil {
			c.Words = append(c.Words, Word{"--" + o.Name, o.Doc})
		}
	}
}

// tables are those that an analysis describes whatever is in the recording. Some make more
// when there is something to put in.
func tables(c Call) (names []string) {
	out, err := render.NewOutput("json", render.Bpftrace, io.Discard, io.Discard)
	if err != nil {
		return nil
	}
	a := out.Answer(c.Analysis.Name)
	in, _, err := prepare(&scan.Meta{}, c, a)
	if err != nil {
		return nil
	}
	for _, t := range in.tables {
		names = appendNew(names, t.Name)
	}
	for _, name := range c.Analysis.Main {
		names = appendNew(names, name)
	}
	return names
}
