package scan

import (
	"math"
	"sync"
)

// Scan implements Source. Row groups are decoded in the order of their first
// row, one ahead of the merge, and only those that overlap in time are held.
func (f *File) Scan(q Query, fn func(*Row) error) error {
	s := newSelection(q)
	groups := f.selectGroups(s)
	if len(groups) == 0 {
		return nil
	}
	m := merger{feed: f.feed(groups, s)}
	defer m.feed.stop()
	return m.run(fn)
}

// feed decodes row groups in a goroutine of its own.
type feed struct {
	pool  *pool
	first []int64 // first times of the groups to come
	out   chan loaded
	quit  chan struct{}
	done  sync.WaitGroup
}

type loaded struct {
	b   *batch
	err error
}

func (f *File) feed(groups []int, s *selection) *feed {
	d := &decoder{f: f.f, o: &f.o, pool: &pool{limit: f.o.MaxMemory}}
	w := &feed{pool: d.pool, out: make(chan loaded), quit: make(chan struct{})}
	for _, i := range groups {
		w.first = append(w.first, f.groups[i].tsMin)
	}
	w.done.Go(func() {
		defer d.zip.close()
		for n, i := range groups {
			var l loaded
			l.b, l.err = d.guarded(&f.groups[i], n, s)
			select {
			case w.out <- l:
			case <-w.quit:
				return
			}
			if l.err != nil {
				return
			}
		}
	})
	return w
}

func (d *decoder) guarded(g *group, serial int, s *selection) (b *batch, err error) {
	defer guard("row group", &err)
	return d.load(g, serial, s)
}

// next is the batch of the next group, nil if nothing in it is selected.
func (w *feed) next() (*batch, error) {
	l := <-w.out
	w.first = w.first[1:]
	return l.b, l.err
}

// due is the time before which the next group has no row.
func (w *feed) due() int64 {
	if len(w.first) == 0 {
		return math.MaxInt64
	}
	return w.first[0]
}

func (w *feed) stop() {
	close(w.quit)
	w.done.Wait()
}

// merger is a heap of batches by their current rows.
type merger struct {
	feed *feed
	heap []entry
}

// entry has the time of the batch's current row beside it, which decides nearly
// every comparison.
type entry struct {
	ts int64
	b  *batch
}

func (e *entry) before(o *entry) bool {
	if e.ts != o.ts {
		return e.ts < o.ts
	}
	return e.b.before(o.b)
}

func (m *merger) run(fn func(*Row) error) error {
	for {
		for len(m.feed.first) > 0 && (len(m.heap) == 0 || m.feed.due() <= m.heap[0].ts) {
			b, err := m.feed.next()
			if err != nil {
				return err
			}
			if b != nil && b.advance() {
				m.push(entry{b.row.TS, b})
			}
		}
		if len(m.heap) == 0 {
			return nil
		}
		if err := m.drain(fn); err != nil {
			return err
		}
	}
}

// drain hands out rows until a batch ends or the next row group is due.
func (m *merger) drain(fn func(*Row) error) error {
	due := m.feed.due()
	for {
		top := m.heap[0]
		child := m.child(0)
		for {
			if err := fn(&top.b.row); err != nil {
				return err
			}
			if !top.b.advance() {
				m.pop()
				return nil
			}
			top.ts = top.b.row.TS
			if child > 0 && !top.before(&m.heap[child]) {
				break
			}
			if top.ts >= due {
				m.heap[0] = top
				return nil
			}
		}
		m.heap[0] = top
		m.down(child)
		if m.heap[0].ts >= due {
			return nil
		}
	}
}

// child is the earlier of the entries below i, 0 if there is none.
func (m *merger) child(i int) int {
	c := 2*i + 1
	switch {
	case c >= len(m.heap):
		return 0
	case c+1 < len(m.heap) && m.heap[c+1].before(&m.heap[c]):
		return c + 1
	}
	return c
}

// down puts the first entry in its place, given its earlier child.
func (m *merger) down(child int) {
	i := 0
	for child > 0 && m.heap[child].before(&m.heap[i]) {
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i, child = child, m.child(child)
	}
}

// pop removes the first batch, which is exhausted.
func (m *merger) pop() {
	m.feed.pool.unload(m.heap[0].b)
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	if last > 0 {
		m.down(m.child(0))
	}
}

func (m *merger) push(e entry) {
	m.heap = append(m.heap, e)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(&m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}
