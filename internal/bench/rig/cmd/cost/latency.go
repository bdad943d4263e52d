package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// headLatency is the heading of the table of waiting times.
const headLatency = "Latency at half load"

// pacedClients are connections that ask at a fixed rate together.
const pacedClients = 20

// pacedWeb is nginx asked by h2load, which can keep to a rate.
var pacedWeb = server{"nginx, keep-alive, at half of its throughput", []string{"nginx", "h2load"}, serveWeb, func(s int) []string {
	return paced(s, 0, "")
}, regexp.MustCompile(`([\d.]+) req/s`)}

// paced asks as fast as it can, or at a rate, in requests a second of all clients.
func paced(seconds int, rate float64, log string) []string {
	argv := []string{"h2load", "--h1", "-t", "1", "-c", strconv.Itoa(pacedClients), "-D", strconv.Itoa(seconds)}
	if rate > 0 {
		argv = append(argv, "--rps", strconv.FormatFloat(rate/pacedClients, 'f', 1, 64), "--log-file", log)
	}
	return append(argv, "http://127.0.0.1:"+webPort+"/")
}

// latency prints how long answers take while the server has half of what it can do.
func (b *bench) latency() error {
	begin(headLatency)
	fmt.Printf("nginx and h2load over loopback with %d connections, at half of the rate that they reach alone. Ratios to none, medians of %d\n"+
		"interleaved rounds of %s, with their range.\n\n", pacedClients, *rounds, *length)
	for _, p := range pacedWeb.needs {
		if _, err := exec.LookPath(p); err != nil {
			fmt.Printf("Not measured: no %s here.\n\n", p)
			return nil
		}
	}
	fmt.Println("| tool | p50 µs | p99 µs | p50 to none | p99 to none | range of p99 | requests a second |\n|---|---:|---:|---:|---:|---:|---:|")
	stop, pid, err := b.serve(pacedWeb)
	if err != nil {
		return err
	}
	defer stop()
	most, _, err := b.ask(pacedWeb, pid)
	if err != nil {
		return err
	}
	tools := watchers()
	got := make([][]waits, len(tools))
	for range *rounds {
		for i, w := range tools {
			r, err := b.pace(w, most/2)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			got[i] = append(got[i], r)
		}
	}
	for i, w := range tools {
		printWaits(w.name, got[i], got[0])
	}
	fmt.Println()
	return nil
}

// waits is how long requests of one round took, µs.
type waits struct{ p50, p99, rate float64 }

// pace runs the paced load once, under a tool.
func (b *bench) pace(w watching, rate float64) (waits, error) {
	if w.start != nil {
		run, err := w.start(b)
		if err != nil {
			return waits{}, err
		}
		defer func() { _, _ = run.end() }()
	}
	log := filepath.Join(b.dir, "requests")
	defer os.Remove(log)
	argv := paced(int(*length/time.Second), rate, log)
	if out, err := b.in(argv); err != nil {
		return waits{}, fmt.Errorf("%s: %w\n%s", argv[0], err, out)
	}
	return readWaits(log)
}

// in runs a command in the namespace.
func (b *bench) in(argv []string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := b.ns.Do(cmd.Start); err != nil {
		return nil, err
	}
	return said.Bytes(), cmd.Wait()
}

// readWaits reads h2load's log: start, status, and µs until the end of the answer. The first
// tenth is the start of the connections.
func readWaits(path string) (waits, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return waits{}, err
	}
	var took []float64
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[1] != "200" {
			return waits{}, fmt.Errorf("h2load wrote %q", line)
		}
		us, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return waits{}, err
		}
		took = append(took, us)
	}
	took = took[len(took)/10:]
	if len(took) < 1000 {
		return waits{}, fmt.Errorf("%d requests are too few", len(took))
	}
	n := len(took)
	slices.Sort(took)
	return waits{took[n/2], took[n*99/100], float64(n) / 0.9 / length.Seconds()}, nil
}

func printWaits(tool string, got, alone []waits) {
	var p50, p99, r50, r99, rate []float64
	for i, w := range got {
		p50, p99, rate = append(p50, w.p50), append(p99, w.p99), append(rate, w.rate)
		r50, r99 = append(r50, w.p50/alone[i].p50), append(r99, w.p99/alone[i].p99)
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f | %.2f | %.2f to %.2f | %.0f |\n", tool, median(p50), median(p99), median(r50), median(r99), slices.Min(r99), slices.Max(r99), median(rate))
}
