package engine

import (
	"fmt"
	"math"

	"netrec/analyze/agg"
)

// scaled is what an answer made of rows that stand for others.
type scaled struct {
	clusters
	total float64 // with what is not scaled
	rows  int64   // that stand for others
	used  bool    // some of them were weighed
}

// clusters are sums by what is kept or left out as a whole.
type clusters struct {
	by    map[uint64]*cluster // sockets
	loose float64             // variance of what goes by packets or ticks, or found no room
	sum   float64
}

// cluster is what the rows of a socket stand for.
type cluster struct{ sum, weight float64 }

// add takes what rows of a socket stand for, or of none.
func (s *clusters) add(sock uint64, x, weight float64) {
	c := s.by[sock]
	if c == nil && (sock == 0 || len(s.by) >= agg.MaxKeys) {
		s.loose += x * x * (1 - 1/weight)
		return
	}
	if s.by == nil {
		s.by = map[uint64]*cluster{}
	}
	if c == nil {
		c = &cluster{}
		s.by[sock] = c
	}
	c.sum, c.weight, s.sum = c.sum+x, max(c.weight, weight), s.sum+x
}

// few reports sums that hang on a few sockets: no bound can be told then.
func (s *clusters) few() bool {
	const enough = 8
	squares := 0.0
	for _, c := range s.by {
		squares += c.sum * c.sum
	}
	return len(s.by) > 0 && s.sum*s.sum < enough*squares
}

// Weigh is how many rows the row at hand stands for: 1, or more where a budget left others out. It is
// asked by whoever adds n of something for the row, and must then add so many times n.
func (in *Input) Weigh(n int64) int64 {
	if in.run == nil || in.run.thin == nil || in.single {
		return 1
	}
	w, x := in.run.weight, float64(in.run.stands)*float64(n)
	if in.scaled.total += x; w > 1 {
		in.scaled.used = true
		in.scaled.add(in.run.cluster, x, w)
		part := w - math.Floor(w) // rounded up with this chance
		in.scaled.loose += part * (1 - part) * float64(n) * float64(n)
	}
	return in.run.stands
}

// percent is how far from the truth the total may be, in percent of it, in 95 of 100 recordings.
// The rows of all connections were counted, so that the error is in what differs between those
// that were kept: how much of the answer comes with as many rows. A connection with the
// chance p counts 1/p times, and adds the square of its difference, times 1 - p. Both of its ends
// may be on this host: two sockets with one chance.
func (s *scaled) percent(all *clusters) float64 {
	if s.total == 0 {
		return 0
	}
	v := s.loose
	for sock, rows := range all.by {
		d := -s.sum / all.sum * rows.sum
		if c := s.by[sock]; c != nil {
			d += c.sum
		}
		v += 2 * d * d * (1 - 1/rows.weight)
	}
	return 100 * 1.96 * math.Sqrt(v) / math.Abs(s.total)
}

// noteScaled says what rows that stand for others have made of the answer.
func (in *Input) noteScaled() {
	s := &in.scaled
	if s.rows == 0 {
		return
	}
	switch p := s.percent(&in.run.sampled); {
	case in.single:
		in.Answer.Note("not scaled: each line shows what was recorded of its socket")
	case !s.used:
		in.Answer.Note("not scaled: rows that were not sampled are missing")
	case p >= 100 || s.few():
		in.Answer.Note("≈ scaled from the sample: too few connections for an error bound")
	default:
		in.Answer.Note(fmt.Sprintf("≈ scaled from the sample: total ± %s %%, single lines are less certain; notes count recorded rows", twoDigits(p)))
	}
}

// twoDigits is for people: at least a tenth, as weights are rounded, too.
func twoDigits(p float64) string {
	if p >= 9.95 {
		return fmt.Sprintf("%.0f", p)
	}
	return fmt.Sprintf("%.1f", max(p, 0.1))
}
