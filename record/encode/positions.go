package encode

import "slices"

// positions are those of a column's values in its dictionary. As long as all are 0, as in a
// column with one value, they are counted and not spelled out.
type positions struct {
	n     int
	index []int32 // all n of them, or none
}

func (p *positions) reset() { p.n, p.index = 0, p.index[:0] }

// room spells out what was only counted and returns the place for n more.
func (p *positions) room(n int) []int32 {
	if len(p.index) < p.n {
		p.index = slices.Grow(p.index[:0], p.n+n)[:p.n]
		clear(p.index)
	}
	p.index = slices.Grow(p.index, n)[:p.n+n]
	p.n += n
	return p.index[p.n-n:]
}

func (p *positions) add(at []int32) { copy(p.room(len(at)), at) }

// addSame adds n times the same.
func (p *positions) addSame(at int32, n int) {
	if at == 0 && len(p.index) == 0 {
		p.n += n
		return
	}
	out := p.room(n)
	for i := range out {
		out[i] = at
	}
}

// each calls f with every position.
func (p *positions) each(f func(at int32)) {
	for i := range p.n {
		if len(p.index) == 0 {
			f(0)
		} else {
			f(p.index[i])
		}
	}
}
