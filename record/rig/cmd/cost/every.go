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
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/analyze/scan"
	"netrec/record/rig"
	"netrec/schema"
)

// hits is what an event cost in the kernel by BPF's own statistics: the time that its
// programs ran, without the way to them. A program also runs for what is then left out,
// so there may be more runs than rows.
type hits struct {
	Event string
	Rows  int64
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

// runs is how often the traffic is made; the first time everything is cold.
const runs = 3

// moment is how far the programs had come at a time.
type moment struct {
	at       int64 // unix, ns
	programs []rig.Program
}

func look(rec *rig.Recorder) (moment, error) {
	ps, err := rec.Programs()
	return moment{time.Now().UnixNano(), ps}, err
}

// every records all events at once while the traffic of the tests, which causes each of
// them, runs, and for as long without: what else the machine does is taken off.
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
	marks, err := phases(rec, traffic)
	_, code, endErr := rec.End(syscall.SIGINT)
	if err = errors.Join(err, endErr); err != nil {
		return nil, err
	}
	if code != 0 && code != 4 {
		return nil, fmt.Errorf("netrec record ended with %d\n%s", code, rec.Said())
	}
	return account(path, marks)
}

// phases gives the moments before the traffic, after it, and after as long a pause.
func phases(rec *rig.Recorder, traffic func() error) (marks [3]moment, err error) {
	if err = traffic(); err != nil {
		return marks, err
	}
	if marks[0], err = look(rec); err != nil {
		return marks, err
	}
	for range runs - 1 {
		if err = traffic(); err != nil {
			return marks, err
		}
	}
	if marks[1], err = look(rec); err != nil {
		return marks, err
	}
	time.Sleep(time.Duration(marks[1].at - marks[0].at))
	marks[2], err = look(rec)
	return marks, err
}

// account adds up programs and rows of each event between the moments.
func account(path string, marks [3]moment) ([]hits, error) {
	by := map[string]*hits{}
	for i := range schema.Events {
		by[schema.Events[i].Name] = &hits{Event: schema.Events[i].Name}
	}
	// Traffic is what came up to the second moment, less what came after it.
	for i, factor := range []int64{-1, 2, -1} {
		for _, p := range marks[i].programs {
			if h := by[eventOf[p.Name]]; h != nil {
				h.Runs, h.RunNS = h.Runs+factor*p.Runs, h.RunNS+factor*p.RunNS
			}
		}
	}
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = f.Scan(scan.Query{}, func(r *scan.Row) error {
		switch h := by[r.Event.Name]; {
		case r.TS >= marks[0].at && r.TS < marks[1].at:
			h.Rows++
		case r.TS >= marks[1].at && r.TS < marks[2].at:
			h.Rows--
		}
		return nil
	})
	var out []hits
	for _, h := range by {
		if h.Rows > 0 && h.Runs > 0 && h.RunNS > 0 {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b hits) int { return cmp.Compare(a.Event, b.Event) })
	return out, err
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
