package render

import (
	"strconv"
	"strings"
)

// barWidth is the width of a bpftrace histogram's bar.
const barWidth = 52

// hist is the histogram being shown: rows are kept until the key changes, since
// bars are relative to the fullest bucket.
type hist struct {
	keys    []Cell
	buckets []bucket
}

type bucket struct{ low, high, count Cell }

// key is the name and keys of an entry as bpftrace shows them: @name[k1, k2].
func (w *textWriter) key(t *Table, cells []Cell) []byte {
	b := append(w.buf[:0], '@')
	if !t.Unnamed {
		b = append(b, t.Name...)
	}
	first := 0
	if t.Sections {
		first = 1 // it is above the entries
	}
	if t.Keys == first {
		return b
	}
	b = append(b, '[')
	for i := first; i < t.Keys; i++ {
		if i > first {
			b = append(b, ", "...)
		}
		switch {
		case cells[i].Null:
			b = append(b, '?')
		case t.columns[i].Kind == Stack:
			b = appendStack(b, cells[i].Str)
		default:
			b = appendPlain(b, &t.columns[i], &cells[i], true)
		}
	}
	return append(b, ']')
}

// appendStack adds a folded stack one frame per line, innermost first, with decimal
// offsets.
func appendStack(b []byte, folded string) []byte {
	b = append(b, '\n')
	for folded != "" {
		i := strings.LastIndexByte(folded, ';')
		b = append(b, "    "...)
		b = append(AppendSafe(b, decimalOffset(folded[i+1:])), '\n')
		folded = folded[:max(i, 0)]
	}
	return b
}

// decimalOffset rewrites symbol+0x1a to symbol+26. What follows a file with its build id is
// an address, which stays as other tools take it.
func decimalOffset(frame string) string {
	sym, off, ok := strings.Cut(frame, "+0x")
	if !ok || strings.HasSuffix(sym, ")") {
		return frame
	}
	v, err := strconv.ParseUint(off, 16, 64)
	if err != nil {
		return frame
	}
	return sym + "+" + strconv.FormatUint(v, 10)
}

// entry shows a row of a count or stats map.
func (w *textWriter) entry(t *Table) {
	b := append(w.key(t, t.cells), ": "...)
	v := t.cells[t.Keys:]
	if t.Look == MapStats {
		b = strconv.AppendInt(append(b, "count "...), v[0].Num, 10)
		b = strconv.AppendInt(append(b, ", average "...), v[1].Num, 10)
		b = strconv.AppendInt(append(b, ", total "...), v[2].Num, 10)
	} else {
		b = strconv.AppendInt(b, v[0].Num, 10)
	}
	w.write(b)
}

// bucket takes a row of a histogram.
func (w *textWriter) bucket(t *Table) {
	n := t.Keys
	same := len(w.hist.keys) == n && len(w.hist.buckets) > 0
	for i := 0; same && i < n; i++ {
		same = w.hist.keys[i] == t.cells[i]
	}
	if !same {
		w.flushHist(t)
		w.hist.keys = append(w.hist.keys[:0], t.cells[:n]...)
	}
	w.hist.buckets = append(w.hist.buckets, bucket{t.cells[n], t.cells[n+1], t.cells[n+2]})
}

func (w *textWriter) flushHist(t *Table) {
	if len(w.hist.buckets) == 0 {
		return
	}
	w.write(append(w.key(t, w.hist.keys), ':'))
	if w.style == BCC {
		w.bccHist(t.columns[t.Keys].Unit)
	} else {
		most := int64(1)
		for _, k := range w.hist.buckets {
			most = max(most, k.count.Num)
		}
		for _, k := range w.hist.buckets {
			w.write(appendBucket(w.buf[:0], k, most))
		}
	}
	w.out.WriteByte('\n')
	w.hist.buckets = w.hist.buckets[:0]
}

func appendBucket(b []byte, k bucket, most int64) []byte {
	b = pad(appendLabel(b, k), 0, -16)
	at := len(b)
	b = pad(strconv.AppendInt(b, k.count.Num, 10), at, 8)
	return append(appendBar(append(b, " |"...), '@', k.count.Num, most, barWidth), '|')
}

// appendBar adds floor(count / most × width) marks and fills the width with spaces.
func appendBar(b []byte, mark byte, count, most int64, width int) []byte {
	n := int(float64(count) / float64(most) * float64(width))
	for i := range width {
		if i < n {
			b = append(b, mark)
		} else {
			b = append(b, ' ')
		}
	}
	return b
}

// appendLabel adds (..., 0), [7], [2, 4), [1K, 2K) or [100, ...).
func appendLabel(b []byte, k bucket) []byte {
	switch {
	case k.low.Null:
		b = append(b, "(..., "...)
	case !k.high.Null && k.high.Num == k.low.Num+1:
		return append(appendScaled(append(b, '['), k.low.Num), ']')
	default:
		b = append(appendScaled(append(b, '['), k.low.Num), ", "...)
	}
	if k.high.Null {
		return append(b, "...)"...)
	}
	return append(appendScaled(b, k.high.Num), ')')
}

// appendScaled adds a bound in steps of 1024, where it is a whole number of them.
func appendScaled(b []byte, v int64) []byte {
	const suffixes = "KMGTPE"
	i := -1
	for v != 0 && v%1024 == 0 && i+1 < len(suffixes) {
		v /= 1024
		i++
	}
	b = strconv.AppendInt(b, v, 10)
	if i >= 0 {
		b = append(b, suffixes[i])
	}
	return b
}
