package priv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// The kernel tells the nice value of every thread of a process that was preferred. One that was
// started with a value of its own keeps that.
func TestPrefer(t *testing.T) {
	if start, err := strconv.Atoi(os.Getenv("NETREC_PREFER")); err == nil {
		if _, _, errno := psx.Syscall3(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, uintptr(start)); errno != 0 {
			t.Fatal(errno)
		}
		if err := Prefer(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("values", ofThreads(t, niceField))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for start, want := range map[string]string{"0": "-5", "7": "7"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPrefer$", "-test.v")
		cmd.Env = append(os.Environ(), "NETREC_PREFER="+start)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.Contains(string(out), "values ["+want+"]") {
			t.Errorf("started with nice %s: %s, want %s for all threads", start, out, want)
		}
	}
}

// A process that was started with a real-time policy has none afterwards, in no thread; any other
// stays as it is.
func TestShare(t *testing.T) {
	if os.Getenv("NETREC_SHARE") != "" {
		rt, err := Share()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("was real-time:", rt, "policies", ofThreads(t, policyField))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for start, want := range map[string]string{"-f": "true policies [0]", "-r": "true policies [0]", "-o": "false policies [0]", "-b": "false policies [3]"} {
		priority := "0"
		if strings.HasPrefix(want, "true") {
			priority = "1"
		}
		cmd := exec.Command("chrt", start, priority, os.Args[0], "-test.run=^TestShare$", "-test.v")
		cmd.Env = append(os.Environ(), "NETREC_SHARE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.Contains(string(out), "was real-time: "+want) {
			t.Errorf("chrt %s: %s, want %s", start, out, want)
		}
	}
}

// Fields of /proc/PID/stat behind the name.
const (
	niceField   = 16
	policyField = 38
)

// ofThreads lists the different values of a field of this process's threads.
func ofThreads(t *testing.T, field int) []string {
	tasks, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d threads: %v", len(tasks), err)
	}
	var values []string
	for _, task := range tasks {
		stat, err := os.ReadFile(task)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(stat), ") ") // the name may have spaces
		values = append(values, strings.Fields(after)[field])
	}
	slices.Sort(values)
	return slices.Compact(values)
}
