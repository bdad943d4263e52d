package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
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

// runs is how often the traffic is made. The first time everything is cold; of the others
// the one counts in which a row of the event took least, because other work on the machine,
// and a busy host under a guest, add time and never take any.
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
	rec, err := start(path, "-e", "all", "--profile", "full", "--buffer", "128M", "--io-stacks", "--count-func", "udp_send*", "--count-tp", "tcp:*")
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "recording all events")
	marks, err := phases(rec, traffic)
	fmt.Fprintln(os.Stderr, "ending the recording")
	_, code, endErr := rec.End(syscall.SIGINT)
	if err = errors.Join(err, endErr); err != nil {
		return nil, err
	}
	if code != 0 && code != 4 {
		return nil, fmt.Errorf("netrec record ended with %d\n%s", code, rec.Said())
	}
	return account(path, marks)
}

// phases gives the moments after each run of the traffic, and after as long a pause as all
// but the first took.
func phases(rec *rig.Recorder, traffic func() error) (marks []moment, err error) {
	for i := range runs {
		begun := time.Now()
		if err := traffic(); err != nil {
			return nil, err
		}
		m, err := look(rec)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "traffic %d of %d: %s\n", i+1, runs, time.Since(begun).Round(time.Second))
		marks = append(marks, m)
	}
	time.Sleep(time.Duration(marks[runs-1].at - marks[0].at))
	m, err := look(rec)
	return append(marks, m), err
}

// span is what happened between two moments, by event, and by joint program.
type span map[string]*hits

func between(a, b moment) span {
	s := span{}
	for i := range schema.Events {
		s[schema.Events[i].Name] = &hits{Event: schema.Events[i].Name}
	}
	for _, j := range schema.Joints() {
		s[j.Prog] = &hits{}
	}
	for sign, programs := range map[int64][]rig.Program{-1: a.programs, 1: b.programs} {
		for _, p := range programs {
			if h := s[cmp.Or(eventOf[p.Name], p.Name)]; h != nil {
				h.Runs, h.RunNS = h.Runs+sign*p.Runs, h.RunNS+sign*p.RunNS
			}
		}
	}
	return s
}

// split gives what a joint program took to its events, a row as much as another: BPF's statistics
// know whole programs only. Of an event with several such programs each has made an equal part of
// the rows.
func (s span) split() {
	programs := map[string]int64{} // of an event
	for _, j := range schema.Joints() {
		for _, h := range j.Parts {
			programs[eventOf[h.Prog]]++
		}
	}
	for _, j := range schema.Joints() {
		rows := func(h schema.Hook) int64 { return s[eventOf[h.Prog]].Rows / programs[eventOf[h.Prog]] }
		var all int64
		for _, h := range j.Parts {
			all += rows(h)
		}
		whole := s[j.Prog]
		for _, h := range j.Parts {
			if all > 0 {
				e := s[eventOf[h.Prog]]
				e.Runs, e.RunNS = e.Runs+whole.Runs*rows(h)/all, e.RunNS+whole.RunNS*rows(h)/all
			}
		}
	}
}

// account joins what the programs did and the rows in the file.
func account(path string, marks []moment) ([]hits, error) {
	spans := make([]span, len(marks)-1) // the last is the pause
	for i := range spans {
		spans[i] = between(marks[i], marks[i+1])
	}
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = f.Scan(scan.Query{}, func(r *scan.Row) error {
		for i := range spans {
			if r.TS >= marks[i].at && r.TS < marks[i+1].at {
				spans[i][r.Event.Name].Rows++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range spans {
		s.split()
	}
	var out []hits
	pause := len(spans) - 1
	for _, e := range schema.Events {
		var best hits
		for i, s := range spans[:pause] {
			share := float64(marks[i+1].at-marks[i].at) / float64(marks[pause+1].at-marks[pause].at)
			h := s[e.Name].less(spans[pause][e.Name], share)
			if e.Counts() {
				h.Rows = h.Runs // their rows are sums of hits
			}
			if h.Rows > 0 && h.Runs > 0 && (best.Runs == 0 || h.perRow() < best.perRow()) {
				best = h
			}
		}
		if best.Runs > 0 {
			out = append(out, best)
		}
	}
	return out, nil
}

// less takes a share of what happened in the pause off, unless that leaves fewer runs than
// rows: then the machine did more in the pause than before it.
func (h *hits) less(pause *hits, share float64) hits {
	part := func(n int64) int64 { return int64(float64(n) * share) }
	out := hits{h.Event, h.Rows - part(pause.Rows), h.Runs - part(pause.Runs), h.RunNS - part(pause.RunNS)}
	if out.Runs < out.Rows || out.Rows <= 0 || out.RunNS <= 0 {
		return *h
	}
	return out
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
