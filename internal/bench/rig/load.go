package rig

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// Rates say how many of each a second; 0 leaves a part out, negative is without pause.
type Rates struct {
	Datagrams int // of UDP, each a send and a receive
	Rounds    int // of TCP, each two sends and two receives on one connection
	Connects  int // connections made, accepted and closed again
}

// Load is traffic under way.
type Load struct {
	ns      *Namespace
	stop    atomic.Bool
	done    chan error
	threads []*thread
	ends    []func() // close the sockets, after the threads
}

// StartLoad begins traffic in the namespace.
func (n *Namespace) StartLoad(r Rates) (*Load, error) {
	l := &Load{ns: n, done: make(chan error, 8)}
	err := n.Do(func() error {
		for _, part := range []struct {
			rate  int
			start func(rate int) error
		}{{r.Datagrams, l.datagrams}, {r.Rounds, l.rounds}, {r.Connects, l.connects}} {
			if part.rate == 0 {
				continue
			}
			if err := part.start(part.rate); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_, _ = l.Stop()
		return nil, fmt.Errorf("start load: %w", err)
	}
	return l, nil
}

// Stop ends the traffic in order and returns its log.
func (l *Load) Stop() ([]*Side, error) {
	l.stop.Store(true)
	var errs []error
	for range l.threads {
		errs = append(errs, <-l.done)
	}
	for _, end := range l.ends {
		end()
	}
	var sides []*Side
	for _, t := range l.threads {
		sides = append(sides, t.sides...)
	}
	return sides, errors.Join(errs...)
}

// spawn starts a thread of the load; CPUs are given out in turn.
func (l *Load) spawn(f func(*thread) error) error {
	t, err := start(l.ns, len(l.threads)%runtime.NumCPU(), l.done, f)
	if err != nil {
		return err
	}
	l.threads = append(l.threads, t)
	return nil
}

// pace calls f at a rate until the load ends; f gets the number of the call.
func (l *Load) pace(rate int, f func(k int) error) error {
	begun := time.Now()
	for k := 0; !l.stop.Load(); k++ {
		if err := f(k); err != nil {
			return err
		}
		if rate < 0 {
			continue
		}
		// In bursts: a sleep takes longer than a call.
		if ahead := time.Duration(k)*time.Second/time.Duration(rate) - time.Since(begun); ahead > time.Millisecond {
			time.Sleep(ahead)
		}
	}
	return nil
}

// size is a length between 8 and 1,008 bytes that tells neighbours apart.
func size(k int) int { return 8 + k*263%1001 }
