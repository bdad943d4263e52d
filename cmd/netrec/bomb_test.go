package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"netrec/analyze"
	"netrec/schema"
)

var everyBomb = flag.Bool("bombs", false, "let TestBombs ask every analysis alone, not only all at once")

// Environment of a child that tells how much memory it took: where to, and how much ends it.
const (
	peakFile  = "NETREC_TEST_PEAK"
	peakLimit = "NETREC_TEST_PEAK_LIMIT"
)

// tellPeak runs the program as main does, in a process that the kernel stops from taking all
// memory, and writes down the most that was resident.
func tellPeak() int {
	most, err := strconv.ParseUint(os.Getenv(peakLimit), 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
	}
	if err != nil {
		panic(err)
	}
	code := run(os.Args[1:], os.Stdout, os.Stderr)
	// Not from getrusage: that begins with what the parent had before exec.
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if err := os.WriteFile(os.Getenv(peakFile), []byte(strings.Fields(rest + " 0")[0]), 0o600); err != nil {
		panic(err)
	}
	return code
}

// peak runs netrec in a process of its own. Without the number, it was ended.
func peak(t *testing.T, bin string, most int64, args ...string) (kib int64, code int, out, side string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command(filepath.Join(bin, "netrec"), args...)
	cmd.Env = append(os.Environ(), peakFile+"="+file, fmt.Sprintf("%s=%d", peakLimit, most))
	var o, s bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &s
	err := cmd.Run()
	b, rerr := os.ReadFile(file)
	if rerr != nil {
		t.Fatalf("netrec %s: %v: %.300s", strings.Join(args, " "), err, s.String())
	}
	kib, err = strconv.ParseInt(string(b), 10, 64)
	must(t, err)
	return kib, cmd.ProcessState.ExitCode(), o.String(), s.String()
}

// bombs are files of less than a megabyte or two that took gigabytes.
func bombs(t *testing.T) map[string]string {
	dir := t.TempDir()
	files := map[string]string{}
	for name, b := range map[string]*bomb{
		"numbers": {events: allEvents(), rounds: 3, rows: 1 << 17},
		"stacks":  {events: allEvents(), rounds: 4, rows: 2048, text: 24 << 10, grow: 12},
		"names":   {events: []*schema.Event{schema.ByName("sock_io"), schema.ByName("tcp_state")}, rounds: 8, rows: 160, text: 1 << 20, grow: 64 << 10},
	} {
		files[name] = filepath.Join(dir, name+".parquet")
		b.write(t, files[name])
	}
	return files
}

// TestBombs: whatever a file holds, no command takes more memory than it may, and an answer
// from a part says so and never calls itself exact.
func TestBombs(t *testing.T) {
	const memory = 192 << 20
	bin, dir := asNetrec(t), t.TempDir()
	limit := fmt.Sprintf("%dM", memory>>20)
	for name, path := range bombs(t) {
		part := 0
		for i, args := range bombed(path, dir) {
			kib, code, out, side := peak(t, bin, 4*memory, append(args, "--memory", limit)...)
			what := fmt.Sprintf("%s: netrec %s", name, strings.Join(args[:len(args)-1], " "))
			// The kernel also counts pages that the runtime has freed and not yet returned, which takes longer
			// on a busy machine.
			if kib<<10 > memory+memory/5 {
				t.Errorf("%s: %d MiB, may take %s", what, kib>>10, limit)
			}
			if code == codePart {
				part++
			}
			said := strings.Contains(out+side, "the memory limit of 192 MiB was reached; --memory 768M gives it more")
			if code != 0 && code != codeNotInFile && code != codePart || said != (code == codePart) || code == codePart && strings.Contains(out+side, "exact: ") {
				t.Errorf("%s: exit code %d, said: %.500s\n%.500s", what, code, out, side)
			}
			t.Logf("%d %s: %d MiB, exit code %d", i, what, kib>>10, code)
		}
		if name != "names" && part == 0 {
			t.Errorf("%s: no answer needs more memory than there is; the file proves nothing", name)
		}
	}
}

// bombed is what is asked of a bomb. The last argument is the file.
func bombed(path, dir string) (all [][]string) {
	for _, a := range analyze.All() {
		if *everyBomb || slices.Contains([]string{"findings", "overview", "socks", "sockcalls", "tcplife"}, a.Name) {
			args := []string{"analyze", a.Name, path}
			if a.Arg != "" {
				args = []string{"analyze", a.Name, "0xffff888000001000", path}
			}
			all = append(all, args)
		}
	}
	for _, f := range []string{"json", "csv", "arrow"} {
		all = append(all, []string{"analyze", "all", "-f", f, path})
	}
	all = append(all, []string{"analyze", "all", "--port", "443", path},
		[]string{"report", "-o", filepath.Join(dir, "page.html"), path}, []string{"export", "--to", "arrow", "--event", "tcp_state", path})
	for _, to := range []string{"folded", "perfetto"} {
		all = append(all, []string{"export", "--to", to, path})
	}
	return all
}
