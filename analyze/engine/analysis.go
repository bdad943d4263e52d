package engine

import (
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Analysis is the declaration of one question that a recording can answer.
type Analysis struct {
	Name     string
	Aliases  []string // other names; options after one are given with it: "qdisc-fq --kind fq"
	Group    string   // heading in the list of analyses
	Question string   // one line, ends in a question mark
	Help     string   // how it is measured and what the columns mean
	Example  string   // arguments after the file
	Shown    string   // what an answer looks like: a part of one from a real recording
	Arg      string   // name of the argument it needs, a kernel address; "" for none
	ArgFrom  string   // analysis that lists such addresses
	// Find makes a call with an address of one whose argument is other words. Words tells what is
	// wrong with them; without it only an address will do.
	Find    func(scan.Source, Selection, Call) (Call, error)
	Words   func(string) error
	Options []Option
	Main    []string // tables of which csv shows the first that has rows; none: the first of all

	// New prepares a fold: it takes columns, registers handlers and describes
	// tables. It is also called without a recording to learn what it needs.
	New func(*Input) Fold
}

// Fold is an analysis at work.
type Fold interface {
	// Finish writes what is known only after the last row.
	Finish(*render.Answer)
}

// FoldFunc makes a function a Fold.
type FoldFunc func(*render.Answer)

// Finish calls f.
func (f FoldFunc) Finish(a *render.Answer) { f(a) }

// Option is one option of an analysis or of all of them.
type Option struct {
	Name    string
	Short   string // one letter, "" for none
	Kind    OptionKind
	Default string
	Choices []string // Choice and Choices: the values allowed; Several: values to offer
	Implied string   // value of the option given without one; "" if it needs a value
	Doc     string
	// Check tells what is wrong with one value of a Text or Several option; nil takes all. Its
	// error may be a UsageError with a hint.
	Check func(string) error
}

// OptionKind is the type of an option's value.
type OptionKind uint8

// Kinds of options.
const (
	Flag   OptionKind = iota // present or not
	Number                   // not negative
	Text
	Choice
	Choices // some of the choices, separated by commas
	Several // values separated by commas; the option may be given again
	Folders // paths as in PATH; the option may be given again
)

// Compat is the option of analyses whose original counts by another rule.
func Compat(doc string) Option { return Option{Name: "compat", Kind: Flag, Doc: doc} }

// Top is the option of analyses that list the greatest first.
func Top(def, doc string) Option {
	return Option{Name: "top", Short: "n", Kind: Number, Default: def, Doc: doc}
}
