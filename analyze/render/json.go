package render

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
)

// jsonWriter writes one object per answer:
//
//	{"analysis":…,"limits":[…],"tables":[{"name":…,"columns":[…],"rows":[{…}]}],"notes":[…]}
type jsonWriter struct {
	out    *bufio.Writer
	tables int
	buf    []byte
}

func (w *jsonWriter) begin(a *Answer, head *bytes.Buffer, limits []string) {
	if a.first {
		head.WriteString(`{"answers":[`)
	}
	b := appendJSON([]byte(`{"analysis":`), a.Name)
	if a.from.Began != "" {
		b = appendJSON(append(b, `,"recorded_on":`...), a.from.Host)
		b = appendJSON(append(b, `,"recorded_from":`...), a.from.Began)
	}
	b = appendStrings(append(b, `,"limits":`...), limits)
	head.Write(append(b, `,"tables":[`...))
}

func (w *jsonWriter) table(t *Table) {
	b := w.buf[:0]
	if w.tables++; w.tables > 1 {
		b = append(b, ',')
	}
	b = appendJSON(append(b, "\n"+`{"name":`...), t.Name)
	b = append(b, `,"columns":[`...)
	first := true
	for i := range t.columns {
		c := &t.columns[i]
		if c.textOnly {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendJSON(append(b, `{"name":`...), c.Name)
		if c.Unit != "" {
			b = appendJSON(append(b, `,"unit":`...), c.Unit)
		}
		b = append(b, '}')
	}
	w.out.Write(append(b, `],"rows":[`...))
}

func (w *jsonWriter) row(t *Table) {
	b := w.buf[:0]
	if t.rows > 1 {
		b = append(b, ',')
	}
	b = append(b, "\n{"...)
	b = append(appendFields(b, t, false), '}')
	w.out.Write(b)
	w.buf = b
}

func (w *jsonWriter) done(*Table) { w.out.WriteString("]}") }

func (w *jsonWriter) end(notes []string) {
	b := appendStrings(append(w.buf[:0], `],"notes":`...), notes)
	w.out.Write(append(b, '}'))
}

// ndjsonWriter writes one object per row and line, each with the names of its
// analysis and table.
type ndjsonWriter struct {
	out   *bufio.Writer
	side  io.Writer
	name  string
	title string
	buf   []byte
}

func (w *ndjsonWriter) begin(a *Answer, _ *bytes.Buffer, limits []string) {
	comments(w.side, w.title, limits)
}

func (w *ndjsonWriter) table(*Table) {}

func (w *ndjsonWriter) row(t *Table) {
	b := appendJSON(append(w.buf[:0], `{"analysis":`...), w.name)
	b = appendJSON(append(b, `,"table":`...), t.Name)
	b = append(appendFields(b, t, true), "}\n"...)
	w.out.Write(b)
	w.buf = b
}

func (w *ndjsonWriter) done(*Table)        {}
func (w *ndjsonWriter) end(notes []string) { comments(w.side, w.title, notes) }

// appendFields adds the members of a row. Addresses are strings: as numbers they
// would lose their low bits in most readers.
func appendFields(b []byte, t *Table, comma bool) []byte {
	for i := range t.columns {
		c, v := &t.columns[i], &t.cells[i]
		if c.textOnly {
			continue
		}
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(appendJSON(b, c.Name), ':')
		switch {
		case v.Null:
			b = append(b, "null"...)
		case c.Kind == String || c.Kind == Stack:
			b = appendJSON(b, v.Str)
		case c.Kind == Fixed:
			b = appendFixed(b, v.Num, c.Decimals)
		case c.Kind == Addr || c.Kind == Hex:
			b = append(strconv.AppendUint(append(b, `"0x`...), uint64(v.Num), 16), '"')
		case c.Kind == Clock:
			b = append(appendPlain(append(b, '"'), c, v, true), '"')
		default:
			b = strconv.AppendInt(b, v.Num, 10)
		}
	}
	return b
}

func appendStrings(b []byte, ss []string) []byte {
	b = append(b, '[')
	for i, s := range ss {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, s)
	}
	return append(b, ']')
}
