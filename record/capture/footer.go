package capture

import "time"

// When a full footer is due. In between, the trailer of a commit leads to the
// newest one. A footer grows with every row group, so time alone must not decide:
// after an hour of few events each would be longer than all that came since the
// one before. Measured against the one before, they are a third of what is written
// in the worst case, a few rows per commit, and a twentieth of a busy recording.
const (
	firstFooters = 3  // commits at the start that all have one: it is still small
	footerShare  = 20 // or when this many times its size was written since
	footerEvery  = 10 * time.Second
	timedShare   = 6 // or after that time, when this many times its size was
)

// Only whole blocks give space back, and one is not worth a call.
const (
	punchBlock   = 4096 // bytes
	punchAtLeast = 2 * punchBlock
)

func (w *Writer) footerDue() bool {
	since := w.end + int64(len(w.buf)) - w.footerOff - w.footerLen
	switch {
	case w.seq < firstFooters:
		return true
	case w.now().Sub(w.footerAt) >= footerEvery:
		return since >= timedShare*w.footerLen
	}
	return since >= footerShare*w.footerLen
}

// noteFooter records that a commit brought a footer of n bytes, or none.
func (w *Writer) noteFooter(off, n int64) {
	if n == 0 {
		w.stale = true
		return
	}
	if w.footerLen > 0 {
		w.dead = append(w.dead, span{w.footerOff, w.footerLen})
	}
	w.footerOff, w.footerLen, w.footerAt, w.stale = off, n, w.now(), false
}

// punchDead gives back the space of footers that a newer one has replaced. Their
// frames stay, so the file can still be walked. Not every file system can.
func (w *Writer) punchDead() {
	for _, s := range w.dead {
		from := (s.off + punchBlock - 1) / punchBlock * punchBlock
		to := (s.off + s.n) / punchBlock * punchBlock
		if to-from < punchAtLeast {
			continue
		}
		if w.file.Punch(from, to-from) != nil {
			return
		}
	}
}
