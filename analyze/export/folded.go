package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Bounds of what is counted at once; rows beyond them count together.
const (
	maxStacks     = 1 << 18
	maxStackBytes = 256 << 20
)

// crowded is the line of rows whose stack found no room.
const crowded = "[other stacks]"

var (
	colComm   = scan.MustStr("comm")
	colKstack = scan.MustStr("kstack")
	colUstack = scan.MustStr("ustack")
)

// StackEvents are the events whose rows have a stack.
func StackEvents() []string {
	var out []string
	for i := range schema.Events {
		e := &schema.Events[i]
		if hasStack(e.Name) {
			out = append(out, e.Name)
		}
	}
	return out
}

func hasStack(event string) bool {
	return slices.Contains(schema.Columns[colKstack.Col()].Events, event) || slices.Contains(schema.Columns[colUstack.Col()].Events, event)
}

// folded counts rows by stack.
type folded struct {
	named  bool // lines begin with the event
	counts map[string]int64
	bytes  int
	bare   int64 // rows without a stack
	line   []byte
}

// Folded writes one line per stack, `frame;frame;frame count`, outermost first: the
// process on the CPU, its user frames, then the kernel's. With several events the event
// comes before all. It returns how many rows had no stack, and a *scan.Full if that is what
// ended the rows.
func Folded(src scan.Source, events []string, w io.Writer) (bare int64, err error) {
	for _, e := range events {
		if !hasStack(e) {
			return 0, fmt.Errorf("event %s has no stacks; those that have: %s", e, strings.Join(StackEvents(), ", "))
		}
	}
	f := &folded{named: len(events) != 1, counts: map[string]int64{}}
	if len(events) == 0 {
		events = StackEvents()
	}
	full, err := scan.Fitted(src.Scan(scan.Query{Events: events, Columns: []scan.Col{colComm.Col(), colKstack.Col(), colUstack.Col()}}, f.row))
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	for _, stack := range slices.Sorted(maps.Keys(f.counts)) {
		fmt.Fprintf(out, "%s %d\n", stack, f.counts[stack])
	}
	if err := out.Flush(); err != nil {
		return f.bare, err
	}
	return f.bare, full.Err()
}

func (f *folded) row(r *scan.Row) error {
	user, kernel := r.Str(colUstack), r.Str(colKstack)
	if user == "" && kernel == "" {
		f.bare++
		return nil
	}
	b := f.line[:0]
	if f.named {
		b = append(append(b, r.Event.Name...), ';')
	}
	// A semicolon in a name would be taken for the end of a frame.
	b = render.AppendSafe(b, strings.ReplaceAll(r.Str(colComm), ";", ":"))
	for _, s := range []string{user, kernel} {
		if s != "" {
			b = render.AppendSafe(append(b, ';'), s)
		}
	}
	f.line = b
	if n, ok := f.counts[string(b)]; ok {
		f.counts[string(b)] = n + 1
		return nil
	}
	if len(f.counts) >= maxStacks || f.bytes+len(b) > maxStackBytes {
		f.counts[crowded]++
		return nil
	}
	f.bytes += len(b)
	f.counts[string(b)] = 1
	return nil
}
