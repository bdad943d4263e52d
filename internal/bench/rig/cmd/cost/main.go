// Command cost measures what recording costs on this machine: nanoseconds per event
// for the thread that causes it, CPU time and bytes per event, and the highest rate
// without loss, beside perf record on the same tracepoints and load. It prints
// Markdown. Needs root; testdata/cost/cost.sh runs it.
//
// Everything happens in a network namespace of its own, which is also the recorder's
// filter. Times are the least of many short batches, with the recorder attached and
// not, in turns: other work on the machine makes batches longer, never shorter.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"netrec/internal/bench/rig"
)

var (
	rounds = flag.Int("rounds", 3, "how many times each thing is measured with and without the recorder")
	phase  = flag.Duration("phase", 600*time.Millisecond, "how long one measurement runs")
	args   = flag.String("args", "", "further arguments of netrec record for single events, such as --profile=full")
	only   = flag.String("only", "", "measure this event alone")
	table  = flag.String("table", "", "print one table alone: servers, latency, events, every, profiles or limits")
	length = flag.Duration("length", 4*time.Second, "how long a load of real servers runs under one tool")
	load   = flag.String("load", "", "of the real servers only those with this in their name")
	tools  = flag.String("tools", "", "of the tools beside real servers only these, separated by commas: light, default, full, light (hooks), default (hooks), perf record, perf record (all), tcpdump")
	beside = flag.String("beside", "", "measure this `binary` of netrec too, in the same rounds, beside real servers")
	stats  = flag.Bool("stats", false, "say what each program of the kernel took beside real servers; the counting itself costs")
	vm     = flag.Bool("vm", true, "boot a kernel for the events that this machine has no hook for")
	kept   = flag.String("emulated", "", "take what a kernel in a guest cost from this `file`, the output of -guest there")
	tell   = flag.Bool("publish", false, "measure nothing: copy the numbers of docs/cost.md to README, help and the estimates of analyze")
	renew  = flag.String("renew", "", "measure nothing: put the tables in this `file`, the output of -table, into docs/cost.md, and publish")
	inside = flag.Bool("guest", false, "measure in a guest, where this program booted a kernel")
)

func main() {
	flag.Parse()
	measure := run
	switch {
	case *inside:
		measure = guest
	case *renew != "":
		measure = renewPage
	case *tell:
		measure = publish
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "netrec-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := rig.Build(dir, "cmd/netrec")
	if err != nil {
		return err
	}
	if _, err := rig.Build(dir, "internal/bench/vmtest/cmd/traffic"); err != nil {
		return err
	}
	ns, err := rig.New()
	if err != nil {
		return err
	}
	defer ns.Close()
	b := &bench{ns: ns, bin: bin, dir: dir}
	if err := ns.Do(pin); err != nil {
		return err
	}
	printHeader(os.Stdout)
	for _, part := range []struct {
		name  string
		print func() error
	}{{"servers", b.servers}, {"latency", b.latency}, {"events", b.events}, {"every", b.everyEvent}, {"profiles", b.profiles}, {"limits", b.limits}} {
		if *only != "" && part.name != "events" || *table != "" && part.name != *table {
			continue
		}
		if err := part.print(); err != nil {
			return err
		}
	}
	return nil
}
