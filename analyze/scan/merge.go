package scan

import (
	"math"
	"sync"
)

// Scan implements Source. Row groups are decoded in the order of their first
// row, one ahead of the merge, and only those that overlap in time are held.
func (f *File) Scan(q Query, fn func(*Row) error) error {
	s := newSelection(q)
	groups, err := f.selectGroups(s)
	if err != nil || len(groups) == 0 {
		return err
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
	heap []*batch
}

func (m *merger) run(fn func(*Row) error) error {
	for {
		for len(m.feed.first) > 0 && (len(m.heap) == 0 || m.feed.due() <= m.heap[0].row.TS) {
			b, err := m.feed.next()
			if err != nil {
				return err
			}
			if b != nil && b.advance() {
				m.push(b)
			}
		}
		if len(m.heap) == 0 {
			return nil
		}
		if err := m.drain(m.heap[0], fn); err != nil {
			return err
		}
	}
}

// drain hands out rows of the first batch as long as it stays the first, and
// restores the heap.
func (m *merger) drain(b *batch, fn func(*Row) error) error {
	rival := m.rival()
	due := m.feed.due()
	for {
		if err := fn(&b.row); err != nil {
			return err
		}
		if !b.advance() {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
			m.feed.pool.unload(b)
			break
		}
		if b.row.TS >= due || rival != nil && !b.before(rival) {
			break
		}
	}
	m.down(0)
	return nil
}

// rival is the batch that comes first after the top of the heap.
func (m *merger) rival() *batch {
	switch {
	case len(m.heap) < 2:
		return nil
	case len(m.heap) > 2 && m.heap[2].before(m.heap[1]):
		return m.heap[2]
	}
	return m.heap[1]
}

func (m *merger) push(b *batch) {
	m.heap = append(m.heap, b)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *merger) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(m.heap) {
			return
		}
		if c+1 < len(m.heap) && m.heap[c+1].before(m.heap[c]) {
			c++
		}
		if !m.heap[c].before(m.heap[i]) {
			return
		}
		m.heap[i], m.heap[c] = m.heap[c], m.heap[i]
		i = c
	}
}
