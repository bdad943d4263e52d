package encode

import "unsafe"

// Scratch is how much memory the buffers hold, in bytes, but for what every encoder has. Those of a
// column are as long as any row group had to have them, so that a load that changes leaves long ones
// in one column after the other; whoever finds them too long makes another encoder.
func (e *Encoder) Scratch() (n int) {
	for i := range e.columns {
		n += e.columns[i].scratch()
	}
	for _, plan := range e.plans {
		for i := range plan {
			n += plan[i].raws.scratch()
		}
	}
	p, b := &e.pages, &e.bloom
	return n + held(e.sort.refs) + held(e.sort.spare) + held(p.dict) + held(p.data) + held(p.packed) + held(p.levels.runs) + held(p.zipped) + held(p.other) +
		held(b.hashes) + held(b.seen) + held(b.filter)
}

// held is how much memory a slice keeps, used or not.
func held[T any](s []T) int {
	var one T
	return cap(s) * int(unsafe.Sizeof(one))
}

func (c *column) scratch() int {
	return held(c.levels.bits) + c.number.table.scratch() + held(c.number.at.index) + held(c.number.values) +
		held(c.number.int32s) + c.text.values.scratch() + held(c.text.at.index)
}

func (r *raws) scratch() int { return r.ints.scratch() + r.bytes.scratch() + held(r.codes) }

func (t *intTable) scratch() int { return held(t.slots) + held(t.keys) }

func (t *byteTable) scratch() int { return held(t.slots) + held(t.plain) + held(t.ends) }
