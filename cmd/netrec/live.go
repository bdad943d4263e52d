package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/record"
)

// live tells how a recording goes: once when it has begun, and on a terminal in a line that
// changes every second.
type live struct {
	terminalLine
	terminal bool
	opt      *record.Options
	begun    bool
	before   record.Status
}

func newLive(to io.Writer, o *record.Options) *live {
	f, ok := to.(*os.File)
	return &live{terminalLine: terminalLine{to: to}, terminal: ok && terminal(f), opt: o}
}

// notice prints what the recorder has to tell.
func (l *live) notice(w io.Writer) func(record.Notice) {
	to := l.writer(w)
	return func(n record.Notice) { fmt.Fprintf(to, "netrec: %s\n", n.Text) }
}

// show is called with the first status when the recording has begun.
func (l *live) show(s record.Status) {
	switch {
	case !l.begun:
		fmt.Fprintf(l.to, "netrec: recording to %s%s\n", s.Path, howLong(l.opt))
		l.begun = true
	case l.terminal:
		l.draw(statusLine(l.before, s))
	}
	l.before = s
}

// howLong says what will end a recording.
func howLong(o *record.Options) string {
	switch {
	case len(o.Command) > 0:
		return " until the command ends"
	case o.For > 0:
		return fmt.Sprintf(" for %s, Ctrl-C to stop sooner", short(o.For))
	}
	return ", Ctrl-C to stop"
}

// short is a duration without units that are nought: 1m, not 1m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func statusLine(before, s record.Status) string {
	rate := float64(s.Rows-before.Rows) / max((s.Length-before.Length).Seconds(), 0.001)
	lost := "nothing lost"
	if s.Lost > 0 {
		lost = engine.Thousands(s.Lost) + " lost"
	}
	return fmt.Sprintf("%s  %s events/s  %s  %.1f MB  recorder %.1f %% of CPU",
		s.Length.Round(time.Second), engine.Thousands(int64(rate)), lost, float64(s.Bytes)/1e6, 100*s.CPU)
}

// next is the command that answers from what was recorded.
func next(o *record.Options, dir string, s *record.Summary) string {
	what := s.Path
	switch {
	case s.Files > 1 && dir != "":
		what = dir
	case s.Files > 1:
		what = strings.TrimSuffix(o.Output, filepath.Ext(o.Output)) + "*" + filepath.Ext(o.Output)
	case what == "":
		what = o.Output
	}
	if strings.ContainsFunc(what, func(r rune) bool { return !strings.ContainsRune(plainInShell, r) }) {
		what = strconv.Quote(what)
	}
	return "next: netrec analyze " + what
}

// plainInShell are the characters that a shell takes as they are.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=-+:,@%"
