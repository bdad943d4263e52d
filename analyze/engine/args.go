package engine

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netrec/analyze/render"
)

// Global are the options of every analysis: selection and output.
var Global = []Option{
	{Name: "from", Kind: Text, Doc: "begin at this time: 5s, 5.25 or +1m30s after the start, 13:52:39, or any other that answers print"},
	{Name: "to", Kind: Text, Doc: "end before this time"},
	{Name: "pid", Short: "p", Kind: Number, Doc: "only this process; rows from interrupts belong to the owner of their socket"},
	{Name: "comm", Kind: Text, Doc: "only processes with this name"},
	{Name: "port", Kind: Several, Check: CheckPort, Doc: "only these ports, local or remote"},
	{Name: "addr", Kind: Text, Doc: "only this IP address or prefix, local or remote"},
	{Name: "sock", Kind: Text, Doc: "only the socket at this kernel address"},
	{Name: "memory", Kind: Text, Doc: "use at most this much memory, such as 2G (default 512M, or 8 times the file if that is more)"},
	{Name: "symbols", Kind: Folders, Doc: "folders with debug files, to name frames of stripped programs by build id"},
	{Name: "format", Short: "f", Kind: Choice, Default: "text", Choices: render.Formats, Doc: "output format"},
	{Name: "table", Kind: Text, Doc: "only this table of the answer; csv prints the main one by default"},
	{Name: "list-tables", Kind: Flag, Doc: "list the tables of the answer, with rows and columns, instead of printing them"},
	{Name: "all", Kind: Flag, Doc: "print all of text, where it would be cut to fit a screen"},
	{Name: "look", Kind: Choice, Default: "bpftrace", Choices: []string{"bpftrace", "bcc"}, Doc: "print histograms in text as this tool does"},
	{Name: "output", Short: "o", Kind: Text, Doc: "write to this file instead of standard output"},
	{Name: "no-pager", Kind: Flag, Doc: "do not show text on a terminal through a pager"},
	{Name: "list", Kind: Flag, Doc: "list the analyses by the question they answer"},
	{Name: "help", Short: "h", Kind: Flag, Doc: "help, also for one analysis"},
}

// Request is a parsed command line.
type Request struct {
	Files   []string // files, directories and patterns, as they were given
	Calls   []Call
	Options map[string]string // of Global
}

// UsageError is a mistake in the command line.
type UsageError struct {
	Msg   string
	Meant string // what would be right; "" if there is no telling
}

func (e *UsageError) Error() string { return e.Msg }

// Hint is the second line of the error.
func (e *UsageError) Hint() string { return e.Meant }

// parser walks the arguments: files, and names of analyses, each followed by its
// argument and options. Global options may stand anywhere.
type parser struct {
	all   []*Analysis
	first Call // the analysis meant if none is named
	req   Request
	args  []string
}

// Parse reads the arguments of analyze. Options after a name belong to that
// analysis; where none is named, first is meant. A word that is no analysis is a file
// if it looks like one, exists as one, or is the first.
func Parse(all []*Analysis, first *Analysis, args []string) (Request, error) {
	p := parser{all: all, args: args, first: Call{Analysis: first, Options: map[string]string{}}, req: Request{Options: map[string]string{}}}
	for len(p.args) > 0 {
		a := p.args[0]
		p.args = p.args[1:]
		var err error
		if len(a) > 1 && a[0] == '-' {
			err = p.option(a)
		} else {
			err = p.word(a)
		}
		if err != nil {
			return p.req, err
		}
	}
	if p.req.Options["help"] == "true" || p.req.Options["list"] == "true" {
		return p.req, nil
	}
	if len(p.req.Calls) == 0 {
		p.req.Calls = []Call{p.first}
	} else if len(p.first.Options) > 0 {
		return p.req, &UsageError{Msg: "put options of an analysis after its name"}
	}
	for _, c := range p.req.Calls {
		if c.lacksArg() {
			return p.req, &UsageError{Msg: fmt.Sprintf("analysis %s: needs an argument %s", c.Analysis.Name, c.Analysis.Arg),
				Meant: fmt.Sprintf("netrec analyze FILE %s lists some", c.Analysis.ArgFrom)}
		}
	}
	return p.req, nil
}

// Find is the analysis of a name or alias, nil if there is none.
func Find(all []*Analysis, name string) *Analysis {
	a, _ := find(all, name)
	return a
}

// find also gives the options that come with an alias.
func find(all []*Analysis, name string) (*Analysis, []string) {
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
		for _, alias := range a.Aliases {
			if words := strings.Fields(alias); words[0] == name {
				return a, words[1:]
			}
		}
	}
	return nil, nil
}

// names lists all names and aliases.
func names(all []*Analysis) []string {
	var ns []string
	for _, a := range all {
		ns = append(ns, a.Name)
		for _, alias := range a.Aliases {
			ns = append(ns, strings.Fields(alias)[0])
		}
	}
	return ns
}

// everything stands for every analysis that needs no argument.
const everything = "all"

func (p *parser) everything() {
	for _, a := range p.all {
		if a.Arg == "" {
			p.req.Calls = append(p.req.Calls, Call{Analysis: a, Options: map[string]string{}, Implied: true})
		}
	}
}

// option takes --name, --name=value, --name value, -x or -x value.
func (p *parser) option(word string) error {
	name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	short := !strings.HasPrefix(word, "--")
	o, into := p.declared(name, short)
	if o == nil {
		return p.unknown(word, name)
	}
	switch {
	case o.Kind == Flag && !has:
		value = "true"
	case !has && o.Implied != "" && (len(p.args) == 0 || o.check(p.args[0]) != nil):
		value = o.Implied
	case !has && len(p.args) == 0:
		return &UsageError{Msg: fmt.Sprintf("option %s: needs a value", word)}
	case !has:
		value, p.args = p.args[0], p.args[1:]
	}
	if err := o.check(value); err != nil {
		e := &UsageError{Msg: fmt.Sprintf("option --%s: %v", o.Name, err)}
		var hint *UsageError
		if errors.As(err, &hint) {
			e.Meant = hint.Meant
		}
		words := strings.Split(value, ",")
		for _, w := range words {
			if s := Suggest(w, o.Choices); s != "" && s != w {
				e.Meant = fmt.Sprintf("did you mean %s?", s)
			}
		}
		return e
	}
	if before := into[o.Name]; before != "" {
		switch o.Kind {
		case Several:
			value = before + "," + value
		case Folders:
			value = before + string(filepath.ListSeparator) + value
		}
	}
	into[o.Name] = value
	return nil
}

// declared looks an option up: first those of the analysis named last, then the
// global ones, and tells where its value goes.
func (p *parser) declared(name string, short bool) (*Option, map[string]string) {
	c := &p.first
	if n := len(p.req.Calls); n > 0 {
		c = &p.req.Calls[n-1]
	}
	if o := lookup(c.Analysis.Options, name, short); o != nil && !c.Implied {
		return o, c.Options
	}
	return lookup(Global, name, short), p.req.Options
}

func lookup(os []Option, name string, short bool) *Option {
	for i := range os {
		if short && os[i].Short != "" && os[i].Short == name || !short && os[i].Name == name {
			return &os[i]
		}
	}
	return nil
}

// habits are options of other tools, with those that do the same here.
var habits = map[string]string{"since": "from", "until": "to"}

func (p *parser) unknown(word, name string) error {
	e := &UsageError{Msg: "no option " + word}
	var names []string
	for _, o := range Global {
		names = append(names, o.Name)
	}
	if n := len(p.req.Calls); n > 0 && p.req.Calls[n-1].Implied {
		return &UsageError{Msg: fmt.Sprintf("%s: %s is not an option of every analysis", everything, word), Meant: "put options of an analysis after its name"}
	} else if n > 0 {
		a := p.req.Calls[n-1].Analysis
		e.Msg = fmt.Sprintf("analysis %s: no option %s", a.Name, word)
		e.Meant = fmt.Sprintf("netrec analyze %s --help shows its options", a.Name)
		for _, o := range a.Options {
			names = append(names, o.Name)
		}
	}
	if s := cmp.Or(habits[name], Suggest(name, names)); s != "" {
		e.Meant = fmt.Sprintf("did you mean --%s?", s)
	}
	return e
}

// maxNumber bounds options that are numbers: of so many seconds the nanoseconds still fit,
// and no process or namespace has a greater one.
const maxNumber = 1 << 32

func (o *Option) check(v string) error {
	switch o.Kind {
	case Flag:
		if v != "true" && v != "false" {
			return fmt.Errorf("%q is neither true nor false", v)
		}
	case Number:
		if n, err := strconv.Atoi(v); err != nil || n < 0 || n > maxNumber {
			return fmt.Errorf("%q is not a number from 0 to %d", v, maxNumber)
		}
	case Choice:
		if !slices.Contains(o.Choices, v) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(o.Choices, ", "))
		}
	case Text, Several:
		return o.checkEach(v)
	case Choices:
		words := strings.Split(v, ",")
		for _, w := range words {
			if !slices.Contains(o.Choices, w) || w == noKeys && len(words) > 1 {
				return fmt.Errorf("%q is not one of %s", w, strings.Join(o.Choices, ", "))
			}
		}
	}
	return nil
}

func (o *Option) checkEach(v string) error {
	if o.Check == nil {
		return nil
	}
	values := []string{v}
	if o.Kind == Several {
		values = strings.Split(v, ",")
	}
	for _, one := range values {
		if err := o.Check(one); err != nil {
			return err
		}
	}
	return nil
}
