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

	"netrec/internal/bench/rig"
	"netrec/schema"
)

// measuredOn says when and where, and what else there was to do.
func measuredOn() (text string, load float64) {
	var u unix.Utsname
	_ = unix.Uname(&u)
	b, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(b), &load)
	return fmt.Sprintf("Measured by `testdata/cost/cost.sh` on %s: %s, %d CPUs, Linux %s, load average %.2f before the start.\n",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), cpuModel(), runtime.NumCPU(), string(bytes.TrimRight(u.Release[:], "\x00")), load), load
}

// begin begins a section. It says when it was measured, as sections can be renewed one by one.
func begin(heading string) {
	where, _ := measuredOn()
	fmt.Print("## " + heading + "\n\n" + where)
}

func printHeader(w io.Writer) {
	where, load := measuredOn()
	fmt.Fprintf(w, "# What recording costs\n\n<!-- Written by testdata/cost/cost.sh; do not edit. -->\n\n%s", where)
	if load > float64(runtime.NumCPU())/2 {
		fmt.Fprint(w, "The machine was far from idle: read ratios, and run the script again on a quiet one. ")
	}
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
	begin("One event")
	fmt.Print("ns per event is what the thread that causes the event pays, probe and the way there. perf takes a stack (`-g`) where\n" +
		"the row has one: sock_stack, skb_drop and sys_connect. Each load repeats one thing, so real traffic takes more bytes per event;\n" +
		"see the mixed load below.\n\n")
	fmt.Println("| event | work | alone | ns per event | recorder CPU per event | bytes per event | perf record: ns, bytes |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|")
	_, noPerf := exec.LookPath("perf")
	for _, m := range measured {
		if *only != "" && *only != m.event {
			continue
		}
		c, err := b.compare(m.work, netrec(nil, one(m.event)...))
		if err != nil {
			return fmt.Errorf("%s: %w", m.event, err)
		}
		use, err := b.itself(m.work, m.event)
		if err != nil {
			return fmt.Errorf("%s: %w", m.event, err)
		}
		perf := "no perf here"
		if noPerf == nil {
			perf = b.perf(m.work, m.event, m.perf)
		}
		fmt.Printf("| %s | %s | %.0f ns | %.0f | %.0f ns | %.1f | %s |\n", m.event, m.work.name, c.off.ns, c.perEvent(),
			use.cpu(), use.bytes(), perf)
		if c.lost() > 0.1 {
			fmt.Fprintf(os.Stderr, "cost: %s: %.1f %% of the events were lost, which makes it look cheap\n", m.event, c.lost())
		}
	}
	fmt.Println()
	return nil
}

// perf measures the same work under perf record.
func (b *bench) perf(w workload, event, tracepoints string) string {
	p, err := b.compare(w, perfRecord(event, tracepoints))
	if err != nil {
		fmt.Fprintf(os.Stderr, "cost: %s: %v\n", tracepoints, err)
		return notMeasured
	}
	size := int64(0)
	for _, e := range p.ended {
		size += e.bytes
	}
	return fmt.Sprintf("%.0f, %.0f", p.perEvent(), float64(size)/float64(p.events()))
}

// profiles prints what each profile adds to the same work.
func (b *bench) profiles() error {
	begin("Profiles")
	fmt.Print("The extra time of one operation with every event of the profile.\n\n| profile | work | alone | with netrec | events | more time |\n|---|---|---:|---:|---:|---:|\n")
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
