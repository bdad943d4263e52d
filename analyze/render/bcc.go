package render

import "strconv"

// starWidth is the width of a BCC histogram's bar.
const starWidth = 40

// bccHist shows the buckets of a log2 histogram as BCC does: from 0 -> 1, which
// holds bpftrace's [0] and [1], to the highest that is not empty. Values below zero
// do not occur there.
func (w *textWriter) bccHist(unit string) {
	var counts [65]int64 // by the number of bits of the bucket's lower bound
	top, most := 1, int64(1)
	for _, k := range w.hist.buckets {
		if k.low.Null || k.low.Num < 0 {
			continue
		}
		i := 1
		for v := k.low.Num; v > 1; v >>= 1 {
			i++
		}
		counts[i] += k.count.Num
		if counts[i] > 0 {
			top = max(top, i)
		}
		most = max(most, counts[i])
	}
	// Wider numbers leave room for half the stars.
	width, stars, label, indent := 10, starWidth, 19, 5
	if top > 32 {
		width, stars, label, indent = 20, starWidth/2, 29, 15
	}
	b := pad(w.buf[:0], 0, indent)
	at := len(b)
	b = pad(append(b, unit...), at, -label)
	w.write(append(b, " : count     distribution"...))
	for i := 1; i <= top; i++ {
		low, high := uint64(1)<<i>>1, uint64(1)<<i-1
		if low == high {
			low--
		}
		b = pad(strconv.AppendUint(w.buf[:0], low, 10), 0, width)
		b = append(b, " -> "...)
		at = len(b)
		b = pad(strconv.AppendUint(b, high, 10), at, -width)
		b = append(b, " : "...)
		at = len(b)
		b = append(pad(strconv.AppendInt(b, counts[i], 10), at, -8), " |"...)
		w.write(append(appendBar(b, '*', counts[i], most, stars), '|'))
	}
}
