package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// round is one load under one tool.
type round struct {
	rate     float64 // of the load
	perOp    float64 // seconds of CPU for one operation of the load, the tool's included
	cpu      float64 // seconds of the tool while the load ran
	switches int64
	rss      int64 // bytes, at the end of the load
	ended    ending
}

// servers prints how much of their throughput real servers keep.
func (b *bench) servers() error {
	begin(headBusy)
	fmt.Printf("Throughput under each tool relative to none, median and range of %d interleaved rounds of %s; everything on this\n"+
		"machine, over loopback. By CPU time is the same ratio as it follows from the CPU time of servers, clients and tool per operation: what\n"+
		"else runs on the machine disturbs it less. CPU (of one), context switches and memory are the tool's, while the load ran.\n"+
		"(hooks) is a profile of which hardly a row is wanted, so that its probes end at their filter: the rest is what rows cost.\n"+
		"perf record has the tracepoints that default records whole on this kernel; (all) also those of which default keeps one in\n"+
		"sixteen, with a period of 16.\n\n", *rounds, *length)
	fmt.Println("| load | tool | throughput | range | by CPU time | tool's CPU | ns per event | context switches a second | resident MiB | events a second | bytes per event | lost |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	if err := b.ns.Do(roomyPorts); err != nil {
		return err
	}
	for _, s := range servers {
		if *load != "" && !strings.Contains(s.name, *load) {
			continue
		}
		if i := slices.IndexFunc(s.needs, func(p string) bool { _, err := exec.LookPath(p); return err != nil }); i >= 0 {
			fmt.Printf("| %s | | not measured: no %s here |\n", s.name, s.needs[i])
			continue
		}
		if err := b.server(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	fmt.Println()
	return nil
}

// roomyPorts lets a connection per request go on for longer than ports would last.
func roomyPorts() error {
	return os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("1024 65000"), 0o644)
}

// serve starts the program that serves; stop ends it.
func (b *bench) serve(s server) (stop func(), pid int, err error) {
	dir, err := os.MkdirTemp(b.dir, "server-")
	if err != nil {
		return nil, 0, err
	}
	argv := s.serve(dir)
	serving := exec.Command(argv[0], argv[1:]...)
	serving.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.ns.Do(serving.Start); err != nil {
		return nil, 0, err
	}
	time.Sleep(settling / 2)
	return func() {
		_ = serving.Process.Signal(syscall.SIGTERM)
		_ = serving.Wait()
	}, serving.Process.Pid, nil
}

func (b *bench) server(s server) error {
	stop, serving, err := b.serve(s)
	if err != nil {
		return err
	}
	defer stop()
	tools := watchers()
	got := make([][]round, len(tools))
	for range *rounds {
		for i, w := range tools {
			r, err := b.round(s, serving, w)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			got[i] = append(got[i], r)
		}
	}
	for i, w := range tools {
		printRounds(s.name, w.name, got[i], got[0])
	}
	return nil
}

// round runs the load once.
func (b *bench) round(s server, serving int, w watching) (r round, err error) {
	run := &watched{end: func() (ending, error) { return ending{}, nil }}
	if w.start != nil {
		if run, err = w.start(b); err != nil {
			return r, err
		}
	}
	before, used := useOfAll(run.pids), 0.0
	stats, err := countRuns(run)
	if err == nil {
		r.rate, used, err = b.ask(s, serving)
	}
	after := useOfAll(run.pids)
	if stats != nil {
		err = errors.Join(err, stats(w.name))
	}
	var stopErr error
	r.ended, stopErr = run.end()
	r.cpu, r.switches, r.rss = after.cpu-before.cpu, after.switches-before.switches, after.rss
	r.perOp = (used + r.cpu) / (r.rate * length.Seconds())
	return r, errors.Join(err, stopErr)
}

// ask returns the rate that was reached and the CPU time that both sides took for it.
func (b *bench) ask(s server, serving int) (rate, used float64, err error) {
	var said bytes.Buffer
	before := useOfTree(serving)
	argv := s.ask(int(*length / time.Second))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := b.ns.Do(cmd.Start); err != nil {
		return 0, 0, err
	}
	_ = cmd.Wait() // redis-benchmark is interrupted
	used = useOfTree(serving) - before + (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m := s.rate.FindAllSubmatch(said.Bytes(), -1)
	if m == nil {
		return 0, 0, fmt.Errorf("%s: %s", argv[0], said.String())
	}
	rate, err = strconv.ParseFloat(string(m[len(m)-1][1]), 64)
	return rate, used, err
}

// countRuns has the kernel count what programs take, where -stats asks for it; counting
// itself costs, so throughputs of such a run are not to be read.
func countRuns(run *watched) (func(name string) error, error) {
	if !*stats || run.programs == nil {
		return nil, nil
	}
	counting, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		return nil, err
	}
	return func(name string) error {
		defer counting.Close()
		list, err := run.programs()
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b rig.Program) int { return int(b.RunNS - a.RunNS) })
		for _, p := range list {
			if p.Runs > 1000 {
				fmt.Fprintf(os.Stderr, "%-10s %-28s %9d runs %6.0f ns %8.1f ms\n", name, p.Name, p.Runs, float64(p.RunNS)/float64(p.Runs), float64(p.RunNS)/1e6)
			}
		}
		return nil
	}, nil
}

// process is what a process has used.
type process struct {
	cpu      float64
	switches int64
	rss      int64
}

// useOfAll is the sum of what processes have used.
func useOfAll(pids []int) (u process) {
	for _, pid := range pids {
		one := useOf(pid)
		u = process{u.cpu + one.cpu, u.switches + one.switches, u.rss + one.rss}
	}
	return u
}

// useOf reads what the kernel says of a process and its threads; threads that ended are
// missing in the switches.
func useOf(pid int) (u process) {
	dir := fmt.Sprintf("/proc/%d", pid)
	stat, _ := os.ReadFile(dir + "/stat")
	if _, rest, ok := strings.Cut(string(stat), ") "); ok {
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.ParseInt(f[11], 10, 64)
			sys, _ := strconv.ParseInt(f[12], 10, 64)
			u.cpu = float64(user+sys) / 100 // USER_HZ
		}
	}
	threads, _ := filepath.Glob(dir + "/task/*/status")
	for _, t := range threads {
		b, _ := os.ReadFile(t)
		for line := range strings.Lines(string(b)) {
			var n int64
			key, v, _ := strings.Cut(line, ":")
			_, _ = fmt.Sscan(v, &n)
			switch {
			case strings.HasSuffix(key, "voluntary_ctxt_switches"):
				u.switches += n
			case key == "VmRSS":
				u.rss = n << 10
			}
		}
	}
	return u
}

// useOfTree is the CPU time of a process and its children, in seconds.
func useOfTree(pid int) float64 {
	used := useOf(pid).cpu
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(b)) {
		n, _ := strconv.Atoi(child)
		used += useOfTree(n)
	}
	return used
}

func printRounds(load, tool string, got, alone []round) {
	var ratios, work, cpu, switches, rss []float64
	var events, lost, size int64
	var used float64
	for i, r := range got {
		ratios = append(ratios, r.rate/alone[i].rate)
		work = append(work, alone[i].perOp/r.perOp)
		cpu = append(cpu, r.cpu/length.Seconds())
		switches = append(switches, float64(r.switches)/length.Seconds())
		rss = append(rss, float64(r.rss)/(1<<20))
		events, lost, size, used = events+r.ended.events, lost+r.ended.lost, size+r.ended.bytes, used+r.cpu
	}
	if tool == "none" {
		var rates []float64
		for _, r := range alone {
			rates = append(rates, r.rate)
		}
		fmt.Printf("| %s | none | %.0f | %.0f to %.0f | | | | | | | | |\n", load, median(rates), slices.Min(rates), slices.Max(rates))
		return
	}
	n, perEvent, bytes := float64(events), "", ""
	rate := n / float64(len(got)) / length.Seconds()
	if rate >= fewEvents {
		perEvent, bytes = fmt.Sprintf("%.0f", used*1e9/n), fmt.Sprintf("%.1f", float64(size)/n)
	}
	fmt.Printf("| %s | %s | %.2f | %.2f to %.2f | %.2f | %.0f %% | %s | %.0f | %.0f | %.0f | %s | %d |\n", load, tool, median(ratios), slices.Min(ratios), slices.Max(ratios),
		median(work), 100*median(cpu), perEvent, median(switches), median(rss), rate, bytes, lost)
}

// fewEvents a second say nothing of what one costs: the rest is what a recorder takes without any.
const fewEvents = 1000

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
