package scan

import (
	"errors"
	"sync"

	"netrec/analyze/parquetfile"
)

// Scan implements Source. Row groups are decoded in the order of their first
// row, one ahead of the merge, and only those that overlap in time are held.
func (f *File) Scan(q Query, fn func(*Row) error) error {
	s := newSelection(q)
	return (&queue{s: s, pending: f.places(s)}).scan(fn, f.o)
}

// feed decodes row groups in a goroutine of its own.
type feed struct {
	pool *parquetfile.Pool
	due  int64 // the time before which the groups to come have no row
	more bool  // there are groups to come
	out  chan loaded
	quit chan struct{}
	done sync.WaitGroup
}

type loaded struct {
	b    *batch
	due  int64 // of the groups after this one
	more bool
	err  error
}

// start begins to decode what a queue holds.
func start(q *queue, o *Options) *feed {
	w := &feed{pool: newPool(o), out: make(chan loaded), quit: make(chan struct{}), due: q.due(), more: q.more()}
	l := &loader{parquetfile.Decoder{Pool: w.pool}}
	w.done.Go(func() {
		defer l.Close()
		defer q.close()
		for n := 0; q.more(); n++ {
			var next loaded
			next.b, next.err = l.guarded(q, n)
			next.due, next.more = q.due(), q.more()
			select {
			case w.out <- next:
			case <-w.quit:
				return
			}
			if next.err != nil {
				return
			}
		}
	})
	return w
}

// guarded decodes the next row group of a queue; nil if nothing in it is selected.
func (l *loader) guarded(q *queue, serial int) (b *batch, err error) {
	defer guard("row group", &err)
	p, err := q.next()
	if err != nil || p.g == nil {
		return nil, err
	}
	l.File, l.Table = p.f.f, p.f.table
	b, err = l.load(p.g, serial, q.s)
	q.done(p)
	return b, err
}

// next is the batch of the next group, nil if nothing in it is selected.
func (w *feed) next() (*batch, error) {
	l := <-w.out
	w.due, w.more = l.due, l.more
	return l.b, l.err
}

func (w *feed) stop() {
	close(w.quit)
	w.done.Wait()
}

// merger is a heap of batches by their current rows.
type merger struct {
	feed   *feed
	heap   []entry
	memory *heapWatch
	at     int64 // ts_ns of the last row that was handed out
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
		for m.feed.more && (len(m.heap) == 0 || m.feed.due <= m.heap[0].ts) {
			b, err := m.feed.next()
			if err != nil {
				return m.ended(err)
			}
			m.memory.loaded(b)
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

// ended says how far the merge came, if it was memory that ended it.
func (m *merger) ended(err error) error {
	if full, ok := errors.AsType[*Full](err); ok {
		full.At = m.at
	}
	return err
}

// drain hands out rows until a batch ends or the next row group is due.
func (m *merger) drain(fn func(*Row) error) error {
	due := m.feed.due
	for {
		top := m.heap[0]
		child := m.child(0)
		for {
			m.at = top.ts
			if err := fn(&top.b.row); err != nil {
				return err
			}
			if m.memory.handed() {
				return m.ended(&Full{Limit: m.memory.limit})
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
	unload(m.feed.pool, m.heap[0].b)
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
