package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/analyze/scan"
	"netrec/record/rig"
	"netrec/schema"
)

// hits is what an event cost in the kernel by BPF's own statistics: the time that its
// programs ran, without the way to them. A program also runs for what a filter then
// leaves out, so there may be more runs than rows.
type hits struct {
	Event string
	Rows  int64 // generated
	Runs  int64
	RunNS int64
}

func (h *hits) perRun() float64 { return float64(h.RunNS) / float64(h.Runs) }
func (h *hits) perRow() float64 { return float64(h.RunNS) / float64(h.Rows) }

// eventOf names the event of each program.
var eventOf = func() map[string]string {
	m := map[string]string{}
	for _, e := range schema.Events {
		for _, r := range e.Ladder {
			for _, h := range r {
				m[h.Prog] = e.Name
			}
		}
	}
	return m
}()

// runs is how often the traffic is made: the first time everything is cold.
const runs = 3

// every records all events at once while the traffic of the tests, which causes each of
// them, runs; start starts the recorder and traffic is how to make the traffic.
func every(dir string, start func(path string, args ...string) (*rig.Recorder, error), traffic func() error) ([]hits, error) {
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		return nil, fmt.Errorf("turn BPF statistics on: %w", err)
	}
	defer stats.Close()
	path := filepath.Join(dir, "every.parquet")
	rec, err := start(path, "-e", "all", "--profile", "full", "--buffer", "128M")
	if err != nil {
		return nil, err
	}
	var first, last []rig.Program
	for i := range runs {
		err = errors.Join(err, traffic())
		if i == 0 && err == nil {
			first, err = rec.Programs()
		}
	}
	if err == nil {
		last, err = rec.Programs()
	}
	_, code, endErr := rec.End(syscall.SIGINT)
	if err = errors.Join(err, endErr); err != nil {
		return nil, err
	}
	if code != 0 && code != 4 {
		return nil, fmt.Errorf("netrec record ended with %d\n%s", code, rec.Said())
	}
	return account(path, first, last)
}

// account adds up the programs of each event over all runs but the first, and the rows
// of all runs, of which each has as many.
func account(path string, first, last []rig.Program) ([]hits, error) {
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	by := map[string]*hits{}
	add := func(ps []rig.Program, sign int64) {
		for _, p := range ps {
			h := by[eventOf[p.Name]]
			if h == nil {
				h = &hits{Event: eventOf[p.Name]}
				by[h.Event] = h
			}
			h.Runs, h.RunNS = h.Runs+sign*p.Runs, h.RunNS+sign*p.RunNS
		}
	}
	add(last, 1)
	add(first, -1)
	for _, c := range f.Meta().Losses {
		if h := by[c.Event]; h != nil {
			h.Rows += c.Generated
		}
	}
	var out []hits
	for _, h := range by {
		h.Rows = h.Rows * (runs - 1) / runs
		if h.Event != "" && h.Rows > 0 && h.Runs > 0 {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b hits) int { return cmp.Compare(a.Event, b.Event) })
	return out, nil
}

// here measures on this machine, in the bench's namespace.
func (b *bench) here() ([]hits, error) {
	tool := filepath.Join(b.dir, "traffic")
	start := func(path string, args ...string) (*rig.Recorder, error) { return b.ns.Record(b.bin, path, args...) }
	return every(b.dir, start, func() error {
		cmd := exec.Command(tool, "-log", filepath.Join(b.dir, "traffic.json"))
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := b.ns.Do(cmd.Start); err != nil {
			return fmt.Errorf("start traffic: %w", err)
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("traffic: %w\n%s", err, said.String())
		}
		return nil
	})
}
