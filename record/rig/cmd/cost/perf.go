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
	"syscall"

	"golang.org/x/sys/unix"
)

var samples = regexp.MustCompile(`\((\d+) samples\)`)

// stacked are the events whose rows have a stack; perf takes one for them too.
var stacked = []string{"skb_drop", "sys_connect"}

// perfRecord records the thread of the work with perf.
func perfRecord(event, tracepoints string) tool {
	return func(b *bench) (func() (ending, error), error) {
		tid := 0
		if err := b.ns.Do(func() error { tid = unix.Gettid(); return nil }); err != nil {
			return nil, err
		}
		path := filepath.Join(b.dir, "perf.data")
		args := []string{"record", "-e", tracepoints, "-t", strconv.Itoa(tid), "-o", path, "-D", "-1", "--control", "fd:3,4"}
		if slices.Contains(stacked, event) {
			args = append(args, "-g")
		}
		var said bytes.Buffer
		cmd := exec.Command("perf", args...)
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := startAndEnable(cmd); err != nil {
			return nil, fmt.Errorf("start perf: %w\n%s", err, said.String())
		}
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

// startAndEnable starts perf with its events disabled and returns once it says that they
// are enabled.
func startAndEnable(cmd *exec.Cmd) error {
	ctlR, ctlW, err := os.Pipe()
	if err != nil {
		return err
	}
	ackR, ackW, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{ctlR, ackW}
	defer func() {
		for _, f := range []*os.File{ctlR, ctlW, ackR, ackW} {
			f.Close()
		}
	}()
	if err := cmd.Start(); err != nil {
		return err
	}
	ackW.Close() // so that the end of perf is the end of the file
	if _, err := ctlW.WriteString("enable\n"); err != nil {
		return err
	}
	if _, err := ackR.Read(make([]byte, 16)); err != nil {
		return fmt.Errorf("wait for its answer: %w", err)
	}
	return nil
}
