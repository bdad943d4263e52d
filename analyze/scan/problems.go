package scan

import (
	"fmt"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
)

// problems collects sentences for Meta.Problems, so many at most.
type problems struct {
	list []string
	more int64
}

const maxProblems = 20

func (p *problems) add(format string, a ...any) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, fmt.Sprintf(format, a...))
}

func (p *problems) lines() []string {
	if p.more > 0 {
		return append(p.list, words.Count(p.more, "further problem")+" of this kind")
	}
	return p.list
}

// finish says what is missing at the end of a recording.
func (w *walker) finish() error {
	tail := w.size - w.off
	if w.commits == 0 {
		return parquetfile.Damaged("no intact commit: the recording ended before its first one was complete, or the file was changed since")
	}
	switch {
	case tail > 0:
		w.problems.add("%s after the last commit are incomplete and were left out", words.Count(tail, "byte"))
	case tail < 0:
		w.problems.add("%s of the last commit's footer are missing; its rows are complete", words.Count(-tail, "byte"))
	default:
		w.compareFooter()
	}
	return nil
}

// compareFooter holds the footer at the end, which other readers use, against
// the commits.
func (w *walker) compareFooter() {
	if len(w.problems.list) > 0 || w.last.Footer == 0 || w.lastOff+w.last.Len() != w.size {
		return
	}
	b, ok := w.footer(w.lastOff, &w.last)
	if !ok {
		w.problems.add("the footer at the end is damaged; rows were read through the commits")
		return
	}
	ft, err := parseFooter(b, w.table, w.o, false)
	if err != nil {
		w.problems.add("the footer at the end is unreadable (%v); rows were read through the commits", err)
		return
	}
	rows := int64(0)
	for i := range w.groups {
		rows += int64(w.groups[i].Rows)
	}
	if rows != ft.Rows || ft.Groups != len(w.groups) {
		w.problems.add("the footer at the end lists %s in %s, the commits have %s in %s; rows were read through the commits",
			words.Count(ft.Rows, "row"), words.Count(int64(ft.Groups), "row group"), words.Thousands(rows), words.Thousands(int64(len(w.groups))))
	}
}
