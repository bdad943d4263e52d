package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// leastMemory is what the program itself takes, and a row group of a busy host.
const leastMemory = 128 << 20

// reading is the limits within which files are read, by the option --memory.
func reading(memory string) (o scan.Options, err error) {
	o.Memory, err = parseBytes(memory)
	if err == nil && o.Memory > 0 && o.Memory < leastMemory {
		err = fmt.Errorf("%s is too little: netrec needs at least %dM", memory, leastMemory>>20)
	}
	if err != nil {
		return o, &engine.UsageError{Msg: fmt.Sprintf("option --memory: %v", err)}
	}
	return o, nil
}

// memoryDoc is the help of the option.
func memoryDoc() string {
	for _, o := range engine.Global {
		if o.Name == "memory" {
			return o.Doc
		}
	}
	return ""
}

// spare makes the garbage collector keep what the process uses below the limit, also while
// answers are made of what was read. What GOMEMLIMIT says stays, if it is less.
func spare(r *scan.Recording) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, scan.Collected(r.Memory())))
	return func() { debug.SetMemoryLimit(before) }
}

// partly says aside that something is made of a part of a recording, and is the exit code for
// that.
func partly(w io.Writer, what string, r *scan.Recording, full *scan.Full) error {
	m := r.Meta()
	say(w, fmt.Errorf("%s %s", what, full.Part(m.Start(), max(m.LastNS, m.Recording.StopNS))))
	return exitCode(codePart)
}
