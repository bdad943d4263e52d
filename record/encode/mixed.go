package encode

import "netrec/schema"

// Rows of rare events take turns. They are taken in windows of some hundred rows, event by
// event, so that the loops over records are as long as can be; each column puts what it gets
// where it belongs in the window.

// mixing is the scratch of one window.
type mixing struct {
	events  []*schema.Event // that are in it
	members [][]int32       // their rows, by event id
	opened  []*column       // columns that have values
}

// window is what a column has in one: numbers and which of them there are, or codes.
type window struct {
	open  bool
	ints  [block]int64
	has   [block]bool
	codes [block]int32
}

// feedMixed feeds batches of several events in the order of time.
func (e *Encoder) feedMixed(batches []Batch) {
	refs := e.sort.order(batches)
	for at := 0; at < len(refs); at += block {
		e.feedWindow(batches, refs[at:min(at+block, len(refs))], at)
	}
}

// feedWindow adds the rows of the group from number at.
func (e *Encoder) feedWindow(batches []Batch, refs []ref, at int) {
	m := &e.mixed
	m.events, m.opened = m.events[:0], m.opened[:0]
	for i := range refs {
		ev := batches[refs[i].batch].Event
		if len(m.members[ev.ID]) == 0 {
			m.events = append(m.events, ev)
		}
		m.members[ev.ID] = append(m.members[ev.ID], int32(i))
	}
	for _, ev := range m.events {
		e.rows = e.rows[:0]
		for _, i := range m.members[ev.ID] {
			e.rows = append(e.rows, &batches[refs[i].batch].Data[refs[i].off])
		}
		plan := e.plans[ev.ID]
		for i := range plan {
			e.place(&plan[i], m.members[ev.ID], len(refs))
		}
		m.members[ev.ID] = m.members[ev.ID][:0]
	}
	for _, c := range m.opened {
		c.levels.addNulls(at - c.levels.rows)
		c.close(len(refs), e.ints)
	}
}

// place puts the values of a field where their rows are in a window of n.
func (e *Encoder) place(f *field, rows []int32, n int) {
	c := &e.columns[f.Column]
	w := e.open(c, n)
	if !f.isNumber() {
		for i, code := range e.codesOf(c, f) {
			w.codes[rows[i]] = code
		}
		return
	}
	v := e.ints[:len(rows)]
	f.load(v, e.rows)
	for i, x := range v {
		w.has[rows[i]] = !f.nullable || x != f.null
	}
	f.convert(v, e.monoToWall)
	for i, x := range v {
		w.ints[rows[i]] = x
	}
}

// open is a column's window, empty when it comes first.
func (e *Encoder) open(c *column, n int) *window {
	if c.window == nil {
		c.window = &window{}
	}
	w := c.window
	if w.open {
		return w
	}
	w.open = true
	e.mixed.opened = append(e.mixed.opened, c)
	if c.typ != schema.String {
		clear(w.has[:n])
		return w
	}
	for i := range w.codes[:n] {
		w.codes[i] = none
	}
	return w
}

// close adds a window of n rows to its column; v is scratch of that length.
func (c *column) close(n int, v []int64) {
	w := c.window
	w.open = false
	if c.typ == schema.String {
		c.put(w.codes[:n])
		return
	}
	kept := 0
	for i, x := range w.ints[:n] {
		v[kept] = x
		if w.has[i] {
			kept++
		}
	}
	if kept == n {
		c.levels.addValues(n)
	} else {
		bits := c.levels.addMixed(n, n-kept)
		for i := range bits {
			if w.has[i] {
				bits[i] = 1
			}
		}
	}
	c.number.add(v[:kept])
}
