package scan

import (
	"cmp"
	"slices"
	"sort"

	"netrec/analyze/parquetfile"
	"netrec/schema"
)

// batch is a row group decoded as far as a query needs it, and a cursor on its
// selected rows in the order of (ts_ns, cpu, seq).
type batch struct {
	row      Row
	ts       []int64
	cpu, seq []int64         // nil where the file has no such column
	kinds    []*schema.Event // by position in the dictionary of the column event
	kind     []int32
	order    []int32 // rows in their order; nil for lo, lo+1 … hi-1
	next, hi int
	serial   int // position of the group, the last word in the order of rows

	vecs    []Vec // by column, owned: those of row.vecs and the ones the merge needs
	charged int64
}

// advance moves the cursor to the next row and reports whether there is one.
func (b *batch) advance() bool {
	if b.next >= b.hi {
		return false
	}
	i := b.next
	if b.order != nil {
		i = int(b.order[i])
	}
	b.next++
	b.row.i = i
	b.row.TS = b.ts[i]
	b.row.Event = b.kinds[b.kind[i]]
	return true
}

// before is the order of rows of the same time.
func (b *batch) before(o *batch) bool {
	if c := cmp.Compare(at(b.cpu, b.row.i), at(o.cpu, o.row.i)); c != 0 {
		return c < 0
	}
	if c := cmp.Compare(at(b.seq, b.row.i), at(o.seq, o.row.i)); c != 0 {
		return c < 0
	}
	return b.serial < o.serial
}

func at(v []int64, i int) int64 {
	if v == nil {
		return 0
	}
	return v[i]
}

// compare is the order of two rows of the batch.
func (b *batch) compare(i, j int32) int {
	if c := cmp.Compare(b.ts[i], b.ts[j]); c != 0 {
		return c
	}
	if c := cmp.Compare(at(b.cpu, int(i)), at(b.cpu, int(j))); c != 0 {
		return c
	}
	return cmp.Compare(at(b.seq, int(i)), at(b.seq, int(j)))
}

// loader makes batches of row groups. It belongs to one goroutine.
type loader struct{ parquetfile.Decoder }

// load decodes what the query selects of a group; nil if that is no row.
// Columns that select rows come first, so that a group without any stops early.
func (l *loader) load(g *group, serial int, s *selection) (_ *batch, err error) {
	b := &batch{vecs: make([]Vec, 2*len(schema.Columns)), serial: serial}
	b.row.vecs = b.vecs[:len(schema.Columns)]
	defer func() {
		if err != nil {
			unload(l.Pool, b)
		}
	}()
	if err := l.fill(b, g, s, colTS, colEvent); err != nil {
		return nil, err
	}
	if err := b.bind(g, s); err != nil {
		return nil, err
	}
	if s.sock != 0 {
		if err := l.fill(b, g, s, colSock); err != nil {
			return nil, err
		}
	}
	if err := l.choose(b, g, s); err != nil {
		return nil, err
	}
	if b.next == b.hi {
		unload(l.Pool, b)
		return nil, nil
	}
	if err := l.fill(b, g, s, colCPU, colSeq); err != nil {
		return nil, err
	}
	b.cpu, b.seq = b.vec(colCPU).Ints, b.vec(colSeq).Ints
	if err := l.sort(b, g); err != nil {
		return nil, err
	}
	if err := l.fill(b, g, s, s.columns...); err != nil {
		return nil, err
	}
	return b, nil
}

// vec is a column the reader needs, whether or not the query asked for it.
func (b *batch) vec(c Col) *Vec {
	if v := &b.vecs[c]; v.Ints != nil || v.Index != nil {
		return v
	}
	return &b.vecs[int(c)+len(schema.Columns)]
}

// fill decodes columns: into the row's view if they were asked for, else aside.
func (l *loader) fill(b *batch, g *group, s *selection, cols ...Col) error {
	for _, c := range cols {
		v := &b.vecs[c]
		if !s.visible[c] {
			v = &b.vecs[int(c)+len(schema.Columns)]
		}
		if v.Ints != nil || v.Index != nil {
			continue
		}
		n, err := l.Decode(&g.Group, int(c), v)
		b.charged += n
		if err != nil {
			return err
		}
		if show := s.show[c]; show != nil {
			n, err := l.show(v, show)
			b.charged += n
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// show replaces the strings of a column by what is to be shown for them; charged is what
// they take of the pool's limit beyond what the column did.
func (l *loader) show(v *Vec, f func(string) string) (charged int64, err error) {
	for i, s := range v.Dict {
		t := f(s)
		if n := int64(len(t) - len(s)); n > 0 {
			if err := l.Pool.Charge(n); err != nil {
				return charged, err
			}
			charged += n
		}
		v.Dict[i] = t
	}
	return charged, nil
}

// unload returns the batch's memory to the pool.
func unload(p *parquetfile.Pool, b *batch) {
	for i := range b.vecs {
		p.Release(&b.vecs[i])
	}
	p.PutIndex(b.order)
	p.Refund(b.charged)
	*b = batch{}
}

// bind resolves the names of events and holds times against the statistics that
// the merge relies on.
func (b *batch) bind(g *group, s *selection) error {
	ev := b.vec(colEvent)
	b.ts, b.kind = b.vec(colTS).Ints, ev.Index
	if b.ts == nil || b.kind == nil {
		return nil // no row has a time and a name
	}
	b.kinds = make([]*schema.Event, len(ev.Dict))
	for i, name := range ev.Dict {
		if e := s.all[name]; e != nil && s.wants(e) {
			b.kinds[i] = e
		}
	}
	valid := b.vec(colTS).Valid
	for i, t := range b.ts {
		if (t < g.tsMin || t > g.tsMax) && (valid == nil || valid[i]) {
			return parquetfile.Damaged("column ts_ns: row %d is outside of its statistics", i)
		}
	}
	return nil
}

// choose sets the range or the list of the rows that the query selects.
func (l *loader) choose(b *batch, g *group, s *selection) error {
	if b.ts == nil || b.kind == nil {
		return nil
	}
	sock, valid := b.vec(colSock).Ints, b.vec(colTS).Valid
	whole := s.sock == 0 && valid == nil && !slices.Contains(b.kinds, nil) && !slices.Contains(b.kind, -1)
	if whole && slices.IsSorted(b.ts) {
		b.next = sort.Search(len(b.ts), func(i int) bool { return b.ts[i] >= s.from })
		b.hi = sort.Search(len(b.ts), func(i int) bool { return b.ts[i] >= s.to })
		b.hi = max(b.hi, b.next)
		return nil
	}
	order, err := l.Pool.Index(g.Rows)
	if err != nil {
		return err
	}
	b.order = order[:0]
	for i, t := range b.ts {
		k := b.kind[i]
		switch {
		case t < s.from || t >= s.to || k < 0 || b.kinds[k] == nil,
			valid != nil && !valid[i],
			s.sock != 0 && uint64(at(sock, i)) != s.sock:
			continue
		}
		b.order = append(b.order, int32(i))
	}
	b.next, b.hi = 0, len(b.order)
	return nil
}

// sort puts the selected rows in order, which those of a recording are in already.
func (l *loader) sort(b *batch, g *group) error {
	sorted := true
	if b.order == nil {
		for i := b.next + 1; i < b.hi && sorted; i++ {
			sorted = b.compare(int32(i-1), int32(i)) <= 0
		}
	} else {
		sorted = slices.IsSortedFunc(b.order, b.compare)
	}
	if sorted {
		return nil
	}
	if b.order == nil {
		order, err := l.Pool.Index(g.Rows)
		if err != nil {
			return err
		}
		b.order = order[:0]
		for i := b.next; i < b.hi; i++ {
			b.order = append(b.order, int32(i))
		}
		b.next, b.hi = 0, len(b.order)
	}
	slices.SortFunc(b.order, b.compare)
	return nil
}
