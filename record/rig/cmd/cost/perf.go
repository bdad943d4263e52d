package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var samples = regexp.MustCompile(`\((\d+) samples\)`)

// perfRecord records the thread of the work with perf.
func perfRecord(events string) tool {
	return func(b *bench) (func() (ending, error), error) {
		tid := 0
		if err := b.ns.Do(func() error { tid = unix.Gettid(); return nil }); err != nil {
			return nil, err
		}
		path := filepath.Join(b.dir, "perf.data")
		var said bytes.Buffer
		cmd := exec.Command("perf", "record", "-e", events, "-t", strconv.Itoa(tid), "-o", path)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("start perf: %w", err)
		}
		time.Sleep(time.Second) // perf does not say when it is ready
		return func() (ending, error) {
			defer os.Remove(path)
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				return ending{}, err
			}
			_ = cmd.Wait() // interrupted, as told
			m := samples.FindSubmatch(said.Bytes())
			if m == nil {
				return ending{}, fmt.Errorf("perf record: %s", said.String())
			}
			n, _ := strconv.ParseInt(string(m[1]), 10, 64)
			st, err := os.Stat(path)
			if err != nil {
				return ending{}, err
			}
			return ending{events: n, bytes: st.Size()}, nil
		}, nil
	}
}
