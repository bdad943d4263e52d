package record

import (
	"encoding/binary"

	"netrec/schema"
)

// shares divides the account of a recording among its files, so that it holds in each:
// a file has the rows that were written to it and the losses that its rows tell of. The
// last one has the rest, up to what the probes have counted.
type shares struct {
	said   map[loss]int64        // losses told of in this file
	before map[spot]schema.Count // of the files before it
}

// spot is an event on a CPU.
type spot struct {
	event string
	cpu   int
}

func newShares() shares {
	return shares{said: map[loss]int64{}, before: map[spot]schema.Count{}}
}

// note takes the losses that a written pile tells of.
func (s *shares) note(p *pile) {
	rows := p.data[lostEvent.ID]
	for size := lostEvent.Size(); len(rows) >= size; rows = rows[size:] {
		var row schema.Lost
		if _, err := binary.Decode(rows[:size], binary.LittleEndian, &row); err == nil { // the recorder itself made it of this type
			s.said[loss{row.LostEvent, row.LostCPU, row.Cause}] += row.Count
		}
	}
}

// end is the account of the file that ends here.
func (s *shares) end(a *account) []schema.Count {
	var out []schema.Count
	for _, total := range a.counts() {
		at := spot{total.Event, total.CPU}
		id, cpu := schema.ByName(total.Event).ID, int32(total.CPU)
		c := schema.Count{Event: total.Event, CPU: total.CPU, Recorded: total.Recorded - s.before[at].Recorded,
			Ring: s.said[loss{id, cpu, causeRing}], Scratch: s.said[loss{id, cpu, causeScratch}],
			Writer: s.said[loss{id, cpu, causeWriter}], Nested: s.said[loss{id, cpu, causeNested}], Calls: total.Calls - s.before[at].Calls,
			Thinned: total.Thinned - s.before[at].Thinned}
		c.Generated = c.Recorded + c.Lost()
		if c.Generated == 0 && c.Thinned == 0 {
			continue
		}
		out = append(out, c)
		sum := s.before[at]
		sum.Add(c)
		s.before[at] = sum
	}
	clear(s.said)
	return out
}

// rest is what of an account is not in the files before.
func (s *shares) rest(counts []schema.Count) []schema.Count {
	out := counts[:0]
	for _, c := range counts {
		b := s.before[spot{c.Event, c.CPU}]
		c.Add(schema.Count{Generated: -b.Generated, Recorded: -b.Recorded, Ring: -b.Ring, Scratch: -b.Scratch, Writer: -b.Writer, Nested: -b.Nested, Calls: -b.Calls, Thinned: -b.Thinned})
		if c.Generated != 0 || c.Recorded != 0 || c.Thinned != 0 {
			out = append(out, c)
		}
	}
	return out
}
