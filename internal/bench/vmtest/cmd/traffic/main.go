// Command traffic makes network traffic with known counts between two network
// namespaces and writes down, as JSON, every call it made:
//
//	traffic -setup -ns a,b
//	traffic -seed 7 -kinds tcp,udp,dns -counts tcp4=23 -log /host/log.json -ns a,b
//
// Built with CGO_ENABLED=0 it runs in any guest.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"netrec/internal/bench/vmtest/traffic"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == traffic.LookupFlag {
		fatal(traffic.LookupMain(os.Args[2:]))
	}
	if os.Getenv("GODEBUG") != noSignals {
		fatal(restart())
	}
	if err := run(); err != nil {
		fatal(err)
	}
}

// noSignals keeps the Go runtime from preempting threads with signals, which
// would interrupt the very calls that are counted. It is read only at the start.
const noSignals = "asyncpreemptoff=1"

// restart runs this program again, as the same process, with noSignals.
func restart() error {
	if err := os.Setenv("GODEBUG", noSignals); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	return syscall.Exec(self, os.Args, os.Environ())
}

func fatal(err error) {
	fmt.Fprintf(os.Stderr, "traffic: %v\n", err)
	os.Exit(1)
}

func run() error {
	o := traffic.Options{}
	flag.Uint64Var(&o.Seed, "seed", 7, "decides the sizes")
	kinds := flag.String("kinds", strings.Join(traffic.Kinds(), ","), "kinds of traffic, in this order")
	counts := flag.String("counts", "", "name=number pairs separated by commas, to change counts")
	ns := flag.String("ns", "", "client's and server's network namespace, `a,b`; one for loopback in it, none for this one")
	path := flag.String("log", "-", "file for the log, - for standard output")
	flag.BoolVar(&o.Machine, "machine", false, "the machine is this run's own: change settings of all of it for a while")
	setup := flag.Bool("setup", false, "only make the namespaces and the link")
	stay := flag.Bool("stay", false, "say done after the log is written, and live until standard input ends")
	teardown := flag.Bool("teardown", false, "only remove the namespaces")
	flag.Parse()
	o.NamespaceA, o.NamespaceB, _ = strings.Cut(*ns, ",")
	switch {
	case *setup:
		return traffic.Setup(o.NamespaceA, o.NamespaceB)
	case *teardown:
		return traffic.Teardown(o.NamespaceA, o.NamespaceB)
	}
	o.Kinds = strings.Split(*kinds, ",")
	var err error
	if o.Counts, err = parseCounts(*counts); err != nil {
		return err
	}
	log, err := traffic.Run(o)
	if err != nil {
		return err
	}
	for _, d := range log.Degraded {
		fmt.Fprintf(os.Stderr, "traffic: %s\n", d)
	}
	if err := log.Write(*path); err != nil || !*stay {
		return err
	}
	fmt.Println(traffic.Done)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func parseCounts(s string) (map[string]int, error) {
	out := map[string]int{}
	for pair := range strings.SplitSeq(s, ",") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("count %q: %w", pair, err)
		}
		out[name] = n
	}
	return out, nil
}
