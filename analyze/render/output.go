package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Formats are the names that NewOutput accepts.
var Formats = []string{"text", "csv", "json", "ndjson", "arrow"}

// Style is how text shows histograms.
type Style uint8

// Styles of text.
const (
	Bpftrace Style = iota
	BCC
)

// writer is one format. Rows go to the table's writer while it is the last one shown.
type writer interface {
	begin(a *Answer, head *bytes.Buffer, limits []string)
	table(t *Table) // before its first row
	row(t *Table)   // t.cells is complete
	done(t *Table)  // after its last row
	end(notes []string)
}

// Output is where the answers of one call go, in their order. Its methods are not
// for concurrent use.
type Output struct {
	format  string
	style   Style
	term    Terminal
	out     *bufio.Writer
	side    io.Writer
	taker   Taker // of format values
	answers []*Answer
	begun   bool // answers were written before these
	from    Origin
	only    string   // table
	list    bool     // only names of tables
	all     bool     // of text
	names   []string // of all tables
}

// Bytes that wait: of the first answer, for what its head will say, and of all. What has waited
// once does not wait again.
const (
	headBuffer = 1 << 16
	outBuffer  = headBuffer / 2
)

// NewOutput writes answers in a format to out, and what a format has no room for
// (limits and notes of csv, ndjson and arrow) to side.
func NewOutput(format string, style Style, out, side io.Writer) (*Output, error) {
	for _, f := range Formats {
		if f == format {
			return &Output{format: format, style: style, out: bufio.NewWriterSize(out, outBuffer), side: side}, nil
		}
	}
	return nil, fmt.Errorf("format %q: not one of %s", format, strings.Join(Formats, ", "))
}

// Answer opens the place of the next answer. The first one streams; those after it
// wait in memory, then in a temporary file, until the ones before them are whole.
func (o *Output) Answer(name string) *Answer {
	a := &Answer{Name: name, from: o.from, heads: o.from.Began != "" && len(o.answers) == 0}
	if len(o.answers) == 0 {
		a.out = bufio.NewWriterSize(streamed{a, o.out}, headBuffer)
	} else {
		a.spool = &spool{}
		a.out = bufio.NewWriterSize(a.spool, 1<<13)
	}
	a.first = len(o.answers) == 0 && !o.begun
	if len(o.answers) == 0 && o.begun {
		o.separate()
	}
	a.only, a.csv, a.text = o.only, o.format == "csv", o.format == "text" && !o.list
	a.screen = screen{fits: a.text && !o.all && a.only == "", term: o.term}
	switch o.format {
	case "text":
		if a.w = (&textWriter{out: a.out, name: a.Name, style: o.style, term: o.term}); o.term.Cuts && a.Fits() {
			a.w = newScreenWriter(a.out, a.Name, o.style, o.term)
		}
	case "csv":
		a.w = &csvWriter{out: a.out, title: a.title(), side: o.side}
	case "json":
		a.w = &jsonWriter{out: a.out}
	case "ndjson":
		a.w = &ndjsonWriter{out: a.out, name: a.Name, title: a.title(), side: o.side}
	case "values":
		a.w = &valuesWriter{title: a.title(), to: o.taker}
	default:
		a.w = &arrowWriter{out: a.out, name: a.Name, title: a.title(), side: o.side}
	}
	if o.list {
		a.w, a.only, a.csv = &listWriter{out: a.out, title: a.title(), from: &a.choice}, "", false
	}
	o.answers = append(o.answers, a)
	return a
}

// Err is the first error of writing to out, nil while there is none.
func (o *Output) Err() error {
	for _, a := range o.answers {
		// An empty write reports the error that a bufio.Writer remembers.
		if _, err := a.out.Write(nil); err != nil {
			return err
		}
		if aw, ok := a.w.(*arrowWriter); ok && aw.err != nil {
			return aw.err
		}
	}
	return nil
}

// From says that the answers to come are about another recording. Those before it are
// written.
func (o *Output) From(from Origin) error {
	if err := o.flush(); err != nil {
		return err
	}
	o.from = from
	return nil
}

// Close ends the output.
func (o *Output) Close() error {
	if err := o.flush(); err != nil {
		return err
	}
	if o.format == "json" {
		if !o.begun {
			o.out.WriteString(`{"answers":[`)
		}
		o.out.WriteString("]}\n")
	}
	return o.out.Flush()
}

// flush writes the answers so far: what was spooled follows in order.
func (o *Output) flush() error {
	defer func() {
		for _, a := range o.answers {
			a.spool.close()
			for _, t := range a.tables {
				o.names = append(o.names, t.Name)
			}
		}
		o.begun, o.answers = o.begun || len(o.answers) > 0, nil
	}()
	if err := o.Err(); err != nil {
		return err
	}
	for i, a := range o.answers {
		if i > 0 {
			o.separate()
		}
		if err := a.send(o.out); err != nil {
			return err
		}
	}
	return nil
}

// separate parts two answers.
func (o *Output) separate() {
	switch o.format {
	case "text", "csv":
		o.out.WriteByte('\n')
	case "json":
		o.out.WriteByte(',')
	}
}
