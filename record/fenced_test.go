package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// status is the fields of /proc/PID/status.
func status(t *testing.T, pid int) map[string]string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	m := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		m[key] = strings.TrimSpace(value)
	}
	return m
}

// child is the process that another one has started under a name. A recorder has a second one,
// which makes its next files.
func child(t *testing.T, pid int, name string) (found int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	must(t, err)
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, s := range strings.Fields(string(b)) {
			if line, err := os.ReadFile("/proc/" + s + "/cmdline"); err == nil && strings.Contains(string(line), name) {
				found, err = strconv.Atoi(s)
				must(t, err)
			}
		}
	}
	if found == 0 {
		t.Fatalf("process %d has no child called %q", pid, name)
	}
	return found
}

// readingName is what the process is called that opens files of others.
const readingName = "netrec: reading files"

// readingOnly are the capabilities that see other processes and open their files: to read
// and search (2), to trace (19), to follow links to what is mapped (40).
const readingOnly = 1<<2 | 1<<19 | 1<<40

// Once recording, neither the recorder nor who opens files for it is root, or could be again: the
// recorder itself can do nothing that its user cannot, and the other nothing but read.
func TestFenced(t *testing.T) {
	b := newBench(t, "privileges of a running recorder")
	rec, err := b.ns.Record(b.bin, filepath.Join(t.TempDir(), "cap.parquet"), "-e", "sys_connect,tcp_state")
	must(t, err)
	reading := child(t, rec.Pid(), readingName)
	for pid, caps := range map[int]uint64{rec.Pid(): 0, reading: readingOnly} {
		var st map[string]string
		within(t, "give up privileges", func() bool { // the sign that all is attached comes right before
			st = status(t, pid)
			return st["Seccomp"] == "2"
		})
		for _, key := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if got, err := strconv.ParseUint(st[key], 16, 64); err != nil || got&^caps != 0 {
				t.Errorf("process %d: %s %s, want no more than %#x", pid, key, st[key], caps)
			}
		}
		if st["NoNewPrivs"] != "1" || strings.HasPrefix(st["Uid"], "0") || strings.HasPrefix(st["Gid"], "0") {
			t.Errorf("process %d: NoNewPrivs %s, Uid %s, Gid %s", pid, st["NoNewPrivs"], st["Uid"], st["Gid"])
		}
	}
	_, code, err := rec.End(syscall.SIGTERM)
	must(t, err)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, rec.Said())
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", reading)); err == nil {
		t.Error("the helper outlived the recorder")
	}
}

// within waits for something that must happen soon.
func within(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for begin := time.Now(); !happened(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > calmStart {
			t.Fatalf("%s: not within %v", what, calmStart)
		}
	}
}

// Without whoever names stacks the recording goes on: it is said, and they are addresses.
func TestHelperDies(t *testing.T) {
	b := newBench(t, "a recording whose helper dies")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, "-e", "sys_connect")
	must(t, err)
	client := clients(t)[0]
	must(t, syscall.Kill(child(t, rec.Pid(), readingName), syscall.SIGKILL))
	client.run(t, b).Close()
	within(t, "a row of each connect", func() bool {
		stacks, _, _ := connects(t, path)
		n := 0
		for stack, rows := range stacks {
			if strings.Contains(stack, "(") || !strings.Contains(stack, "0x") {
				t.Fatalf("a stack with names of a helper that is gone: %s", stack)
			}
			n += rows
		}
		return n >= client.calls
	})
	_, code, err := rec.End(syscall.SIGTERM)
	must(t, err)
	if code != 0 || !strings.Contains(rec.Said(), "addresses instead of names") {
		t.Errorf("exit code %d:\n%s", code, rec.Said())
	}
}
