package main

import (
	"io"
	"sync"
)

// terminalLine is one line on a terminal that is drawn again and again. Whatever else is written there
// must go through writer, so that the line is gone by then.
type terminalLine struct {
	to    io.Writer
	mu    sync.Mutex
	shown bool
}

// draw shows a text in place of the one before. A terminal that cannot be written to is no
// reason to stop.
func (l *terminalLine) draw(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = true
	_, _ = io.WriteString(l.to, "\r"+text+"\x1b[K")
}

// clear removes the line.
func (l *terminalLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		_, _ = io.WriteString(l.to, "\r\x1b[K")
		l.shown = false
	}
}

// writer is a writer before which the line goes away.
func (l *terminalLine) writer(w io.Writer) io.Writer { return clearing{l, w} }

type clearing struct {
	line *terminalLine
	w    io.Writer
}

func (c clearing) Write(b []byte) (int, error) {
	c.line.clear()
	return c.w.Write(b)
}
