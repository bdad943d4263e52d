package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netrec/internal/bench/rig"
)

type bench struct {
	ns  *rig.Namespace
	bin string
	dir string
	n   int
}

// A batch is as long as fits between two interruptions. The pause after it lets the
// recorder keep up: events that are lost cost less than those that are not.
const (
	batch = 200 * time.Microsecond
	pause = time.Millisecond
)

// timed is the least time of one operation and how many there were.
type timed struct {
	ns  float64
	ops int64
}

func (t *timed) least(o timed) {
	if t.ns == 0 || o.ns < t.ns {
		t.ns = o.ns
	}
	t.ops += o.ops
}

// time runs the work for a phase.
func (b *bench) time(op func() error) (timed, error) {
	var out timed
	err := b.ns.Do(func() error {
		size, end := 4, time.Now().Add(*phase)
		out.ns = math.Inf(1)
		for time.Now().Before(end) {
			start := time.Now()
			for range size {
				if err := op(); err != nil {
					return fmt.Errorf("work: %w", err)
				}
			}
			took := time.Since(start)
			out.ops += int64(size)
			out.ns = min(out.ns, float64(took)/float64(size))
			if took < batch/2 {
				size *= 2
			}
			time.Sleep(pause)
		}
		return nil
	})
	return out, err
}

// cost is what one event costs under one tool.
type cost struct {
	off, on timed
	ended   []ending
}

// perEvent is the extra time of an operation divided by its events.
func (c *cost) perEvent() float64 { return (c.on.ns - c.off.ns) / c.eventsPerOp() }

func (c *cost) eventsPerOp() float64 { return float64(c.events()) / float64(c.on.ops) }

func (c *cost) events() (n int64) {
	for _, e := range c.ended {
		n += e.events
	}
	return n
}

// lost is how many of the events were lost, in percent.
func (c *cost) lost() float64 {
	var n int64
	for _, e := range c.ended {
		n += e.lost
	}
	return 100 * float64(n) / float64(c.events())
}

// ending is what a tool says after one run.
type ending struct{ events, lost, bytes int64 }

// tool starts a recorder; the function returned ends it.
type tool func(b *bench) (end func() (ending, error), err error)

// compare measures work with and without a tool, in turns.
func (b *bench) compare(w workload, t tool) (*cost, error) {
	var op func() error
	var end func()
	err := b.ns.Do(func() (err error) { op, end, err = w.make(); return err })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	defer end()
	c := &cost{}
	for range *rounds {
		off, err := b.time(op)
		if err != nil {
			return nil, err
		}
		c.off.least(off)
		stop, err := t(b)
		if err != nil {
			return nil, err
		}
		on, err := b.time(op)
		ended, stopErr := stop()
		if err := errors.Join(err, stopErr); err != nil {
			return nil, err
		}
		c.on.least(on)
		c.ended = append(c.ended, ended)
	}
	return c, nil
}

// netrec records with these arguments; each file is removed after use has seen it.
func netrec(use func(path, said string), args ...string) tool {
	return func(b *bench) (func() (ending, error), error) {
		b.n++
		path := filepath.Join(b.dir, fmt.Sprintf("%d.parquet", b.n))
		rec, err := b.ns.Record(b.bin, path, args...)
		if err != nil {
			return nil, err
		}
		return func() (ending, error) {
			defer os.Remove(path)
			_, code, err := rec.End(syscall.SIGINT)
			if err != nil || code != 0 && code != 4 {
				return ending{}, fmt.Errorf("netrec record ended with %d: %v\n%s", code, err, rec.Said())
			}
			e := parseSummary(rec.Said())
			if use != nil {
				use(path, rec.Said())
			}
			return e, nil
		}, nil
	}
}

// one is the arguments that record a single event.
func one(event string) []string { return append([]string{"-e", event}, strings.Fields(*args)...) }

// parseSummary reads what netrec record prints at its end.
func parseSummary(said string) ending {
	var e ending
	for line := range strings.Lines(said) {
		var n, of int64
		var event string
		switch {
		case strings.Contains(line, " events in "):
			_, rest, _ := strings.Cut(line, ": ")
			_, _ = fmt.Sscanf(rest, "%d events", &n)
			e.events += n
		case strings.HasPrefix(line, "lost: ") && !strings.Contains(line, "none"):
			_, rest, _ := strings.Cut(line, ": ")
			if _, err := fmt.Sscanf(rest, "%s %d of %d", &event, &n, &of); err == nil {
				e.events += n
				e.lost += n
			}
		case strings.HasPrefix(line, "file: "):
			_, _ = fmt.Sscanf(line, "file: %d", &e.bytes)
		}
	}
	return e
}

// itself is what the recorder says about itself in a recording long enough for that.
func (b *bench) itself(w workload, event string) (u use, err error) {
	var op func() error
	var end func()
	if err = b.ns.Do(func() (err error) { op, end, err = w.make(); return err }); err != nil {
		return u, err
	}
	defer end()
	stop, err := netrec(u.add, one(event)...)(b)
	if err != nil {
		return u, err
	}
	for range 5 * time.Second / *phase {
		if _, err = b.time(op); err != nil {
			break
		}
	}
	_, stopErr := stop()
	return u, errors.Join(err, stopErr)
}
