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
var stacked = []string{"sock_stack", "skb_drop", "sys_connect"}

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
		pipes, err := startAndEnable(cmd)
		if err != nil {
			return nil, fmt.Errorf("start perf: %w\n%s", err, said.String())
		}
		return func() (ending, error) {
			defer os.Remove(path)
			defer pipes.close() // not before perf ends: it minds
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

type pipes []*os.File

func (p pipes) close() {
	for _, f := range p {
		f.Close()
	}
}

// startAndEnable starts perf with its events disabled and returns once it says that they
// are enabled.
func startAndEnable(cmd *exec.Cmd) (open pipes, err error) {
	ctlR, ctlW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ackR, ackW, err := os.Pipe()
	if err != nil {
		pipes{ctlR, ctlW}.close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{ctlR, ackW}
	open = pipes{ctlW, ackR}
	err = cmd.Start()
	pipes{ctlR, ackW}.close() // so that the end of perf is the end of the file
	if err == nil {
		_, err = ctlW.WriteString("enable\n")
	}
	if err == nil {
		_, err = ackR.Read(make([]byte, 16))
	}
	if err != nil {
		open.close()
		return nil, fmt.Errorf("enable its events: %w", err)
	}
	return open, nil
}
