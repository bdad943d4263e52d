package scan

import (
	"cmp"
	"math"
	"slices"

	"netrec/analyze/parquetfile"
)

// place is a row group and the file it lies in.
type place struct {
	f *File
	g *group
}

func (p place) compare(o place) int { return cmp.Compare(p.g.tsMin, o.g.tsMin) }

// queue gives out the row groups of a scan in the order of their first times. Files
// are opened when their time has come and closed after their last group, so that a
// recording of hundreds of files takes no more memory than those that overlap.
type queue struct {
	s       *selection
	pending []place
	later   []*part       // not opened yet, by first time
	left    map[*File]int // groups to come of the files that the queue has opened
}

// maxOpen bounds the files of one recording that overlap in time; those of a real one
// do so in pairs.
const maxOpen = 64

// scan hands the rows of all groups to fn in the order of time.
func (q *queue) scan(fn func(*Row) error, o Options) error {
	m := merger{feed: start(q, &o)}
	m.memory = watchHeap(o.Memory, m.feed.pool)
	defer m.feed.stop()
	return m.run(fn)
}

// more reports whether there are groups to come.
func (q *queue) more() bool { return len(q.pending)+len(q.later) > 0 }

// due is the time before which no group to come has a row.
func (q *queue) due() int64 {
	due := int64(math.MaxInt64)
	if len(q.pending) > 0 {
		due = q.pending[0].g.tsMin
	}
	if len(q.later) > 0 {
		due = min(due, q.later[0].first)
	}
	return due
}

// next is the next group; its place is empty if a file had to be opened that has none.
func (q *queue) next() (place, error) {
	for len(q.later) > 0 && q.later[0].first <= q.due() {
		if err := q.open(q.later[0]); err != nil {
			return place{}, err
		}
		q.later = q.later[1:]
	}
	if len(q.pending) == 0 {
		return place{}, nil
	}
	p := q.pending[0]
	q.pending = q.pending[1:]
	return p, nil
}

func (q *queue) open(p *part) error {
	if len(q.left) >= maxOpen {
		return parquetfile.TooLarge("files of one recording at the same time", int64(len(q.left)+1), maxOpen)
	}
	f, err := p.open()
	if err != nil {
		return err
	}
	groups := f.places(q.s)
	if len(groups) == 0 {
		return f.Close()
	}
	if groups[0].g.tsMin < p.first {
		f.Close()
		return parquetfile.Damaged("%s: changed while it was being read", p.path)
	}
	q.left[f] = len(groups)
	q.pending = append(slices.Clip(q.pending), groups...)
	slices.SortStableFunc(q.pending, place.compare)
	return nil
}

// done closes the file of a group that was its last one, if the queue has opened it.
func (q *queue) done(p place) {
	if q.left == nil {
		return
	}
	if q.left[p.f]--; q.left[p.f] == 0 {
		delete(q.left, p.f)
		p.f.Close()
	}
}

// close closes what is open still.
func (q *queue) close() {
	for f := range q.left {
		f.Close()
	}
}
