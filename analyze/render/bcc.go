package render

import (
	"strconv"
	"strings"
)

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

// count shows a row of a count map. BCC has a tool for each kind: stackcount for
// stacks, funccount for functions, argdist for the rest.
func (w *textWriter) count(t *Table) {
	switch {
	case w.style != BCC:
		w.entry(t)
	case stackKey(t) >= 0:
		w.stackcount(t)
	case funcKey(t):
		b := pad(appendPlain(w.buf[:0], &t.columns[0], &t.cells[0], true), 0, -funcWidth)
		w.write(appendCount(append(b, ' '), t, 8))
	default:
		b := append(w.buf[:0], '\t')
		b = pad(appendCount(b, t, 0), 1, -10)
		for i := range t.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, ' ')
			b = append(append(b, t.columns[i].Name...), " = "...)
			b = appendPlain(b, &t.columns[i], &t.cells[i], true)
		}
		w.write(b)
	}
}

// funcWidth is the width of funccount's names.
const funcWidth = 36

// bccHeading is the line above the rows of a count map.
func (w *textWriter) bccHeading(t *Table) {
	switch {
	case stackKey(t) >= 0:
	case funcKey(t):
		b := pad(append(w.buf[:0], "FUNC"...), 0, -funcWidth)
		w.write(append(b, "    COUNT"...))
	default:
		w.write(append(w.buf[:0], "\tCOUNT      EVENT"...))
	}
}

// stackcount shows a stack, innermost frame first, any other keys, and the count.
func (w *textWriter) stackcount(t *Table) {
	b := w.buf[:0]
	at := stackKey(t)
	b = appendFrames(b, t.cells[at].Str, "  ", "")
	for i := range t.Keys {
		if i == at {
			continue
		}
		b = append(append(append(b, "    "...), t.columns[i].Name...), " = "...)
		b = append(appendPlain(b, &t.columns[i], &t.cells[i], true), '\n')
	}
	b = appendCount(append(b, "    "...), t, 0)
	w.write(append(b, '\n'))
}

// sample shows a stack of a profile.
func (w *textWriter) sample(t *Table) {
	kernel, user := &t.cells[0], &t.cells[1]
	suffix := ""
	if t.Annotated {
		suffix = "_[k]"
	}
	b := appendFrames(w.buf[:0], kernel.Str, "    ", suffix)
	if t.Delimited && kernel.Str != "" && user.Str != "" {
		b = append(b, "    --\n"...)
	}
	b = appendFrames(b, user.Str, "    ", "")
	b = AppendSafe(append(b, "    -                "...), t.cells[2].Str)
	b = append(strconv.AppendInt(append(b, " ("...), t.cells[3].Num, 10), ")\n        "...)
	w.write(append(strconv.AppendInt(b, t.cells[4].Num, 10), '\n'))
}

// appendFrames adds a folded stack one function per line, innermost first, without
// offsets.
func appendFrames(b []byte, folded, indent, suffix string) []byte {
	for folded != "" {
		i := strings.LastIndexByte(folded, ';')
		name, _, _ := strings.Cut(folded[i+1:], "+0x")
		b = AppendSafe(append(b, indent...), name)
		b = append(append(b, suffix...), '\n')
		folded = folded[:max(i, 0)]
	}
	return b
}

func appendCount(b []byte, t *Table, width int) []byte {
	at := len(b)
	return pad(strconv.AppendInt(b, t.cells[t.Keys].Num, 10), at, width)
}

// stackKey is the position of the key that is a stack, -1 if there is none.
func stackKey(t *Table) int {
	for i := range t.Keys {
		if t.columns[i].Kind == Stack {
			return i
		}
	}
	return -1
}

// funcKey reports whether functions are counted.
func funcKey(t *Table) bool { return t.Keys == 1 && t.columns[0].Name == "func" }
