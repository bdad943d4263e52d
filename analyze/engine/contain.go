package engine

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Broken is code that panicked on a recording: a mistake in it, which a file that nobody
// thought of has shown.
type Broken struct {
	What  string // what was being done
	Panic any
	At    string // file and line
}

func (b *Broken) Error() string { return b.What + ": " + b.why() }

// why leaves out what was being done, for places that say it themselves.
func (b *Broken) why() string { return fmt.Sprintf("internal error at %s: %v", b.At, b.Panic) }

// Hint is the second line of the error.
func (*Broken) Hint() string { return "this is a bug in netrec; please report it with this line" }

// Contain calls f and makes an error of its panic, so that a hostile file costs what f
// does and not the process. What Go does not let anyone catch, above all the end of memory,
// is prevented where numbers come from: see scan's bounds.
func Contain(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken(what, p)
		}
	}()
	return f()
}

// broken is called by the deferred function that recovered from p.
func broken(what string, p any) *Broken { return &Broken{What: what, Panic: p, At: panicked()} }

// panicked is the line of netrec that the panic being recovered from came from.
func panicked() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for thrown := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			thrown = true
		case thrown && strings.HasPrefix(f.Function, "netrec/"):
			file := filepath.ToSlash(f.File)
			return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(file)), path.Base(file), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// try does something for one analysis and notes a panic, after which the analysis gets no
// more rows: what it has so far may be wrong.
func (in *Input) try(f func()) {
	defer func() {
		if p := recover(); p != nil {
			in.broke(p)
		}
	}()
	f()
}

func (in *Input) broke(p any) {
	if in.broken == nil {
		in.broken = broken("analysis "+in.call.Analysis.Name, p)
	}
}

// breaks makes an outcome of the panic that err is; other errors stay.
func (o *Outcome) breaks(name string, err error) error {
	var b *Broken
	if !errors.As(err, &b) {
		return err
	}
	o.Name, o.Status, o.Why, o.Broken = name, Broke, b.why(), b
	return nil
}
