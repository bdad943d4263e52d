package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// How a long scan is shown.
const (
	progressAfter = 700 * time.Millisecond // a scan that takes less shows nothing
	progressEvery = 100 * time.Millisecond
	progressRows  = 1 << 14 // the clock is read once in so many rows
	progressWidth = 30
)

// progress draws how far a scan is on a terminal.
type progress struct {
	terminalLine
	now   func() time.Time
	taken func() bool // whether a pager has the terminal

	began, last time.Time
	from, until int64 // ts_ns of the scan
	rows        int64
}

// watch makes the scans of sources show their progress on the terminal that side is;
// without one, sources and writers stay as they are.
func watch(out, side io.Writer) (func(scan.Source) scan.Source, io.Writer, io.Writer) {
	to, taken := side, (func() bool)(nil)
	if a, ok := side.(aside); ok {
		to, taken = a.side, a.p.begun
	}
	f, ok := to.(*os.File)
	if !ok || !terminal(f) {
		return func(src scan.Source) scan.Source { return src }, out, side
	}
	p := &progress{terminalLine: terminalLine{to: to}, now: time.Now, taken: taken}
	return func(src scan.Source) scan.Source { return &watched{src, p} }, p.writer(out), p.writer(side)
}

// watched is a source whose scans are shown.
type watched struct {
	scan.Source
	p *progress
}

// Scan delivers the rows and draws from time to time.
func (w *watched) Scan(q scan.Query, f func(*scan.Row) error) error {
	p, m := w.p, w.Meta()
	p.began, p.rows, p.from, p.until = p.now(), 0, m.FirstNS, m.LastNS
	if q.From > p.from {
		p.from = q.From
	}
	if q.To != 0 && q.To < p.until {
		p.until = q.To
	}
	defer p.clear()
	return w.Source.Scan(q, func(r *scan.Row) error {
		if p.rows++; p.rows%progressRows == 0 {
			p.draw(r.TS)
		}
		return f(r)
	})
}

// draw shows the line if it is time to: rows come in the order of time, so that tells
// how much is done.
func (p *progress) draw(ts int64) {
	now := p.now()
	if p.taken != nil && p.taken() || now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery || p.until <= p.from {
		return
	}
	p.last = now
	done := min(max(float64(ts-p.from)/float64(p.until-p.from), 0), 1)
	bar := strings.Repeat("#", int(done*progressWidth))
	left := ""
	if done > 0 {
		rest := time.Duration(float64(now.Sub(p.began)) * (1 - done) / done)
		left = fmt.Sprintf(", %s left", rest.Round(time.Second))
	}
	p.terminalLine.draw(fmt.Sprintf("[%-*s] %3d %%, %s events%s", progressWidth, bar, int(done*100), engine.Thousands(p.rows), left))
}
