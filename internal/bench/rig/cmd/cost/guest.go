package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"netrec/internal/bench/rig"
	"netrec/internal/bench/vmtest"
)

// guestKernel is the one that has a hook for every event.
const guestKernel = "newest"

// guestNamespaces are joined by a link, so that packets pass devices and queues.
const guestNamespaces = "cost-a,cost-b"

// reference is the event that costs elsewhere are compared with: an emulated machine
// shows how much more one costs than another, not how much.
const reference = "sock_io"

// marker begins the line of results in a guest's output.
const marker = "cost-of-every-event: "

// inGuest boots a kernel and measures there, unless that was done before. It needs what make
// kernel needs.
func (b *bench) inGuest() (emulation, error) {
	if *kept != "" {
		out, err := os.ReadFile(*kept)
		if err != nil {
			return emulation{}, err
		}
		return results(out)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return emulation{}, err
	}
	if err := os.WriteFile(filepath.Join(b.dir, "cost"), self, 0o755); err != nil {
		return emulation{}, err
	}
	res, err := vmtest.Run(context.Background(), vmtest.Config{Kernel: guestKernel, Share: b.dir,
		Command: []string{"/host/cost", "-guest"}, Timeout: 20 * time.Minute, MemoryMiB: 2048})
	if err != nil {
		return emulation{}, fmt.Errorf("boot %s: %w\n%s", guestKernel, err, res.Output)
	}
	return results(res.Output)
}

// emulation is what a guest says.
type emulation struct {
	Kernel string
	Hits   []hits
}

// results finds what a guest measured in what it printed.
func results(output []byte) (out emulation, err error) {
	_, line, ok := bytes.Cut(output, []byte(marker))
	if !ok {
		return out, fmt.Errorf("kernel %s printed no results\n%s", guestKernel, output)
	}
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&out); err != nil {
		return out, fmt.Errorf("results from kernel %s: %w", guestKernel, err)
	}
	return out, nil
}

// guest is the other side: it measures and prints the results.
func guest() error {
	const tools = "/host"
	dir, err := os.MkdirTemp("", "cost-")
	if err != nil {
		return err
	}
	traffic := func(args ...string) error {
		out, err := exec.Command(tools+"/traffic", append(args, "-ns", guestNamespaces)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("traffic: %w\n%s", err, out)
		}
		return nil
	}
	if err := traffic("-setup"); err != nil {
		return err
	}
	start := func(path string, args ...string) (*rig.Recorder, error) {
		return rig.Record(tools+"/netrec", path, args...)
	}
	all, err := every(dir, start, func() error { return traffic("-machine", "-log", filepath.Join(dir, "log.json")) })
	if err != nil {
		return err
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	fmt.Print(marker)
	return json.NewEncoder(os.Stdout).Encode(emulation{string(bytes.TrimSpace(release)), all})
}
