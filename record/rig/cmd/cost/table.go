package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/rig"
	"netrec/schema"
)

func printHeader(w io.Writer) {
	var u unix.Utsname
	_ = unix.Uname(&u)
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(w, "# What recording costs\n\n<!-- Written by testdata/cost/cost.sh; do not edit. -->\n\n")
	fmt.Fprintf(w, "Measured by `testdata/cost/cost.sh` on %s: %s, %d CPUs, Linux %s, load average %s before the start.\n",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), cpuModel(), runtime.NumCPU(),
		string(bytes.TrimRight(u.Release[:], "\x00")), strings.Fields(string(load))[0])
	fmt.Fprintf(w, "Times are the least of many batches of about %s, with the recorder attached and not, in turns (%d each).\n\n", batch, *rounds)
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if name, v, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown CPU"
}

// events prints the table of single events.
func (b *bench) events() error {
	fmt.Print("## One event\n\nns is what the thread that causes the event pays; \"in the probe\" is the kernel's own measure of one run of a\n" +
		"program (`bpf_stats_enabled`), without the way there. perf takes a stack (`-g`) where the row has one: skb_drop and\nsys_connect. The loads are monotonous, so bytes per event are least; see the mixed load below.\n\n")
	fmt.Println("| event | work | alone | ns per event | in the probe | recorder CPU per event | bytes per event | perf record: ns, bytes |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|")
	_, noPerf := exec.LookPath("perf")
	for _, m := range measured {
		if *only != "" && *only != m.event {
			continue
		}
		c, err := b.compare(m.work, netrec(nil, one(m.event)...))
		if err != nil {
			return fmt.Errorf("%s: %w", m.event, err)
		}
		kernel, use, err := b.inKernel(m.work, m.event, programs(m.event))
		if err != nil {
			return fmt.Errorf("%s: %w", m.event, err)
		}
		perf := "no perf here"
		if noPerf == nil {
			p, err := b.compare(m.work, perfRecord(m.event, m.perf))
			if err != nil {
				return fmt.Errorf("%s: %w", m.perf, err)
			}
			size := int64(0)
			for _, e := range p.ended {
				size += e.bytes
			}
			perf = fmt.Sprintf("%.0f, %.0f", p.perEvent(), float64(size)/float64(p.events()))
		}
		fmt.Printf("| %s | %s | %.0f ns | %.0f | %.0f | %.0f ns | %.1f | %s |\n", m.event, m.work.name, c.off.ns, c.perEvent(), kernel,
			use.cpu(), use.bytes(), perf)
		if c.lost() > 0.1 {
			fmt.Fprintf(os.Stderr, "cost: %s: %.1f %% of the events were lost, which makes it look cheap\n", m.event, c.lost())
		}
	}
	fmt.Println()
	return nil
}

// programs are those that an event may have loaded.
func programs(event string) (names []string) {
	for _, r := range schema.ByName(event).Ladder {
		for _, h := range r {
			names = append(names, h.Prog)
		}
	}
	return names
}

// profiles prints what each profile adds to the same work.
func (b *bench) profiles() error {
	fmt.Print("## Profiles\n\nThe extra time of one operation with every event of the profile.\n\n| profile | work | alone | with netrec | events | more time |\n|---|---|---:|---:|---:|---:|\n")
	for _, p := range schema.Profiles {
		for _, w := range []workload{datagram, stream, connection} {
			c, err := b.compare(w, netrec(nil, "--profile", string(p)))
			if err != nil {
				return fmt.Errorf("profile %s: %w", p, err)
			}
			fmt.Printf("| %s | %s | %.0f ns | %.0f ns | %.1f | %+.0f %% |\n", p, w.name, c.off.ns, c.on.ns, c.eventsPerOp(), 100*(c.on.ns/c.off.ns-1))
		}
	}
	fmt.Printf("\nA mixed load, a second: %d datagrams of changing size, %d questions and answers over TCP, %d connections.\n\n",
		mixed.Datagrams, mixed.Rounds, mixed.Connects)
	fmt.Print("| profile | events a second | recorder CPU per event | of one CPU | bytes per event | lost |\n|---|---:|---:|---:|---:|---:|\n")
	for _, p := range schema.Profiles {
		if err := b.mix(p); err != nil {
			return fmt.Errorf("profile %s: %w", p, err)
		}
	}
	fmt.Println()
	return nil
}

var mixed = rig.Rates{Datagrams: 8000, Rounds: 2000, Connects: 50}

// mix records several seconds of the mixed load.
func (b *bench) mix(p schema.Profile) error {
	var u use
	stop, err := netrec(u.add, "--profile", string(p))(b)
	if err != nil {
		return err
	}
	load, err := b.ns.StartLoad(mixed)
	if err != nil {
		return err
	}
	begun := time.Now()
	time.Sleep(8 * time.Second)
	took := time.Since(begun)
	_, err = load.Stop()
	ended, stopErr := stop()
	if err := errors.Join(err, stopErr); err != nil {
		return err
	}
	rate := float64(ended.events) / took.Seconds()
	fmt.Printf("| %s | %.0f | %.0f ns | %.1f %% | %.1f | %d |\n", p, rate, u.cpu(), u.cpu()*rate/1e7, u.bytes(), ended.lost)
	return nil
}
