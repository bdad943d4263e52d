package scan

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/words"
	"netrec/schema"
)

// Recording is one recording in one or more files, read as one in the order of time.
type Recording struct {
	parts []*part
	o     Options
	meta  Meta
	one   *File // the only file, or nil
}

// Meta implements Source. Of several files, facts of the host are those of the first
// one, and the account is the sum.
func (r *Recording) Meta() *Meta { return &r.meta }

// Files is how many files the recording has.
func (r *Recording) Files() int { return max(1, len(r.parts)) }

// Close ends the use of the recording.
func (r *Recording) Close() error {
	f := r.one
	r.one, r.meta = nil, Meta{}
	if f == nil {
		return nil
	}
	return f.Close()
}

// Scan implements Source.
func (r *Recording) Scan(q Query, fn func(*Row) error) error {
	if r.one != nil {
		return r.one.Scan(q, fn)
	}
	s := newSelection(q)
	later := make([]*part, 0, len(r.parts))
	for _, p := range r.parts {
		if p.last >= s.from && p.first < s.to && p.has(s) {
			later = append(later, p)
		}
	}
	slices.SortStableFunc(later, func(a, b *part) int { return cmp.Compare(a.first, b.first) })
	return (&queue{s: s, later: later, left: map[*File]int{}}).scan(fn, r.limits())
}

// limits are those for all files together.
func (r *Recording) limits() Options { return r.o.withDefaults(r.meta.Size) }

// Memory is how many bytes the process may use to answer from the recording.
func (r *Recording) Memory() int64 { return r.limits().Memory }

// Load reads what the recording says about itself. Until then, and after Close, there
// is next to nothing in memory, so that one call can be about hundreds.
func (r *Recording) Load() error {
	if r.one != nil {
		return nil
	}
	first, err := r.parts[0].open()
	if err != nil {
		return err
	}
	if len(r.parts) == 1 {
		r.be(first)
		return nil
	}
	defer first.Close()
	last, err := r.parts[len(r.parts)-1].open()
	if err != nil {
		return err
	}
	defer last.Close()
	r.meta = *first.Meta()
	begin := r.meta.Recording.Part
	r.join(last.Meta())
	r.elsewhere(begin)
	return nil
}

// be makes the recording that of one file.
func (r *Recording) be(f *File) {
	r.one, r.meta = f, *f.Meta()
	r.elsewhere(r.meta.Recording.Part)
}

// join adds to the metadata of the first file what the others say.
func (r *Recording) join(last *Meta) {
	m := &r.meta
	start := m.Recording.StartNS
	m.Recording, m.Counters.Stop = last.Recording, last.Counters.Stop
	m.Recording.StartNS = start
	m.Budget = last.Budget                  // the changes are those of the whole recording
	if len(last.Objects) > len(m.Objects) { // the list only grows
		m.Objects = last.Objects
	}
	if n := len(last.Clock); n > 0 && len(m.Clock) > 0 {
		m.Clock = []schema.Anchor{m.Clock[0], last.Clock[n-1]}
	}
	m.Path = fmt.Sprintf("%s and %d more", m.Path, len(r.parts)-1)
	m.Size, m.Stored, m.Rows, m.Losses = 0, 0, map[string]int64{}, nil
	var ps problems
	for _, p := range r.parts {
		m.Size, m.Stored = m.Size+p.size, m.Stored+p.stored
		if len(p.rows) > 0 {
			m.FirstNS, m.LastNS = min(cmp.Or(m.FirstNS, p.first), p.first), max(m.LastNS, p.last)
		}
		for e, n := range p.rows {
			m.Rows[e] += n
		}
		m.Losses = append(m.Losses, p.losses...)
		for _, s := range p.problems {
			ps.add("%s: %s", p.path, s)
		}
	}
	m.Losses = byEvent(m.Losses)
	m.Problems = ps.lines()
}

// elsewhere says that a part of the recording is in files that are not here; begin is
// the place of the first one that is.
func (r *Recording) elsewhere(begin *schema.Part) {
	if begin != nil && begin.Index > 1 {
		r.meta.Problems = append(r.meta.Problems, fmt.Sprintf("the recording began in %s before this one", words.Count(int64(begin.Index)-1, "file")))
	}
	if r.meta.Recording.End == schema.EndNext {
		r.meta.Problems = append(r.meta.Problems, "the recording goes on in a further file")
	}
}
