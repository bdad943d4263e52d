package encode

import (
	"encoding/binary"
	"slices"

	"netrec/schema"
)

// A busy host's rows are made by a few threads on a few sockets, again and again. What tells
// the thread, and what tells the socket, is a bundle of columns each: records are compared
// in those bytes, each different one is fed to the columns once, and the rows of the group
// are numbers of them. That is a comparison a row in place of a look-up for every value.

var bundled = [][]string{
	{"event", "pid", "tid", "ctx", "cgroup", "comm"},
	{"sock", "netns", "laddr", "raddr", "lport", "rport", "family", "cookie", "socket", "sock_type", "protocol", "prot_name"},
}

const (
	minBundle   = 4    // fewer columns are not worth a comparison
	bundleBits  = 12   // of the number of places where different records are remembered
	bundleTries = 8    // places where one is looked for
	bundleRows  = 1024 // of a group, from which on it shows whether a bundle pays
	bundleRest  = 16   // groups without it after one in which it did not
)

// word is eight bytes of a record, and which of their bits count.
type word struct {
	off  int
	mask uint64
}

// bundle is columns of one event that depend on the same few bytes.
type bundle struct {
	fields []field
	words  []word // the bytes; the first ones tell most records apart
	stride int

	used  bool    // in this group
	rest  int     // groups until it is tried again
	kinds []byte  // the first record of each kind; one that was not found again has two
	n     int     // of them
	ids   []int32 // of the rows of the group
	slots []int32 // kinds by their hashes, plus one
}

// plan is the fields of an event: those by themselves, and bundles.
type plan struct {
	own     []field
	bundles []bundle
}

func newPlan(ev *schema.Event) plan {
	var p plan
	taken := map[int]bool{}
	for _, names := range bundled {
		b := bundle{stride: ev.Size()}
		for _, f := range ev.Fields() {
			if slices.Contains(names, schema.Columns[f.Column].Name) && f.As != schema.AsMicros {
				b.fields = append(b.fields, newField(f, ev.Size()))
			}
		}
		if len(b.fields) < minBundle {
			continue
		}
		counts := make([]bool, ev.Size())
		for i := range b.fields {
			taken[b.fields[i].Column] = true
			b.fields[i].mark(counts)
		}
		b.words = words(counts)
		b.slots = make([]int32, 1<<bundleBits)
		p.bundles = append(p.bundles, b)
	}
	for _, f := range ev.Fields() {
		if !taken[f.Column] {
			p.own = append(p.own, newField(f, ev.Size()))
		}
	}
	return p
}

// mark notes the bytes of a record that decide what the field is.
func (f *field) mark(counts []bool) {
	if f.Enum == nil && f.As == schema.AsEnum {
		return // the event, which all records of a batch share
	}
	for i := range f.Size {
		counts[f.Offset+i] = true
	}
	if f.As == schema.AsIP {
		counts[f.Family], counts[f.Family+1] = true, true
	}
}

// words covers the bytes that count. Records are no shorter than a header, nor is a word
// longer than what is left of one.
func words(counts []bool) []word {
	var out []word
	for i := 0; i < len(counts); i++ {
		if !counts[i] {
			continue
		}
		w := word{off: min(i, len(counts)-8)}
		for ; i < w.off+8; i++ {
			if counts[i] {
				w.mask |= 0xff << (8 * (i - w.off))
			}
		}
		out = append(out, w)
		i--
	}
	return out
}

// reset forgets the group before; one tells that the next is of this event alone. In a group
// of several, events take turns, and there is nothing to gain.
func (p *plan) reset(one bool) {
	resetFields(p.own)
	for i := range p.bundles {
		b := &p.bundles[i]
		resetFields(b.fields)
		b.kinds, b.n, b.ids = b.kinds[:0], 0, b.ids[:0]
		clear(b.slots)
		if b.used = one && b.rest == 0; one && b.rest > 0 {
			b.rest--
		}
	}
}

func resetFields(fields []field) {
	for i := range fields {
		fields[i].raws.reset()
	}
}

// add notes which kinds n records are.
func (b *bundle) add(rows []byte, n int) {
	at := len(b.ids)
	b.ids = slices.Grow(b.ids, n)[:at+n]
	ids := b.ids[at:]
	for i := range ids {
		row := rows[i*b.stride : (i+1)*b.stride]
		at := b.hash(row) >> (64 - bundleBits)
		slot := &b.slots[at]
		for tries := 1; *slot != 0 && !b.same(row, b.kinds[int(*slot-1)*b.stride:]); tries++ {
			if tries == bundleTries {
				*slot = 0
				break
			}
			at = (at + 1) & (1<<bundleBits - 1)
			slot = &b.slots[at]
		}
		if *slot == 0 {
			b.kinds = append(b.kinds, row...)
			b.n++
			*slot = int32(b.n)
		}
		ids[i] = *slot - 1
	}
}

// hash tells records apart by the thread and what it was doing, or by the socket.
func (b *bundle) hash(row []byte) uint64 {
	x, y := b.words[0], b.words[1]
	h := (load64(row, x.off) & x.mask) * 0x9e3779b97f4a7c15
	return (h ^ load64(row, y.off)&y.mask) * 0xff51afd7ed558ccd
}

func (b *bundle) same(x, y []byte) bool {
	differ := uint64(0)
	for _, w := range b.words {
		differ |= (load64(x, w.off) ^ load64(y, w.off)) & w.mask
	}
	return differ == 0
}

func load64(b []byte, off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }

// unbundle feeds each kind to the columns and gives every row what its kind got.
func (e *Encoder) unbundle(p *plan) {
	for i := range p.bundles {
		b := &p.bundles[i]
		if !b.used {
			continue
		}
		for at := 0; at < b.n; at += block {
			n := min(block, b.n-at)
			e.feedFields(b.fields, b.kinds[at*b.stride:(at+n)*b.stride], at, n)
		}
		for i := range b.fields {
			e.spread(&e.columns[b.fields[i].Column], b.ids)
		}
		if rows := len(b.ids); rows >= bundleRows && 2*b.n > rows {
			b.rest = bundleRest
		}
	}
}

// spread turns a column of kinds into one of rows.
func (e *Encoder) spread(c *column, ids []int32) {
	l, rows := &c.levels, len(ids)
	switch l.nulls {
	case l.rows:
		l.rows, l.nulls = rows, rows
		return
	case 0:
		l.rows = rows
	default:
		ids = e.spreadLevels(l, ids)
	}
	switch {
	case c.typ == schema.String:
		if c.text.values.len() > 1 {
			c.text.index, e.codes2 = gather(e.codes2, c.text.index, ids), c.text.index
		}
	case !c.number.dict:
		c.number.values, e.ints2 = gather(e.ints2, c.number.values, ids), c.number.values
	case len(c.number.table.keys) > 1:
		c.number.index, e.codes2 = gather(e.codes2, c.number.index, ids), c.number.index
	}
	c.number.count = len(ids)
}

// spreadLevels does so with the levels of a column that has values and NULLs. It returns
// where each row that has a value finds it among those of the kinds.
func (e *Encoder) spreadLevels(l *levels, ids []int32) []int32 {
	e.places, e.valued = e.places[:0], e.valued[:0]
	for i, n := 0, int32(0); i < len(l.bits); i++ {
		e.places = append(e.places, n)
		n += int32(l.bits[i])
	}
	bits := slices.Grow(e.bits2[:0], len(ids))[:len(ids)]
	for i, id := range ids {
		bits[i] = l.bits[id]
		if bits[i] != 0 {
			e.valued = append(e.valued, e.places[id])
		}
	}
	l.bits, e.bits2 = bits, l.bits
	l.rows, l.nulls = len(ids), len(ids)-len(e.valued)
	return e.valued
}

// gather is the elements of from at the given places, in the memory of dst.
func gather[T int32 | int64](dst, from []T, at []int32) []T {
	dst = slices.Grow(dst[:0], len(at))[:len(at)]
	for i, p := range at {
		dst[i] = from[p]
	}
	return dst
}
