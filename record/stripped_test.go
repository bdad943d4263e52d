package record_test

import (
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
	"netrec/schema"
)

// stripped is a build of testdata/symbols/client.c.
type stripped struct {
	dir   string
	calls int
}

// clients compiles two builds of one program, which differ in where their code is.
func clients(t *testing.T) []*stripped {
	t.Helper()
	for _, tool := range []string{"cc", "objcopy", "strip", "addr2line"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: left out: names for stripped programs", tool)
		}
	}
	all := []*stripped{{calls: 7}, {calls: 5}}
	for i, c := range all {
		c.dir = t.TempDir()
		flag := fmt.Sprintf("-falign-functions=%d", 16<<i)
		if out, err := exec.Command("../testdata/symbols/build.sh", c.dir, flag).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return all
}

// run starts the program in the namespace; closing what it returns ends it.
func (c *stripped) run(t *testing.T, b bench) io.Closer {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.dir, "client"), fmt.Sprint(c.calls), "9")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, b.ns.Do(cmd.Start))
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return in
}

// connects counts the rows of connect(2) by user stack in all files of a recording.
func connects(t *testing.T, pattern string) (stacks map[string]int, newest *scan.Meta, files int) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	must(t, err)
	stacks = map[string]int{}
	col := scan.MustStr("ustack")
	for _, path := range paths {
		f, err := scan.Open(path, scan.Options{})
		must(t, err)
		must(t, f.Scan(scan.Query{Events: []string{"sys_connect"}}, func(r *scan.Row) error {
			stacks[r.Str(col)]++
			return nil
		}))
		newest = f.Meta()
		f.Close()
	}
	return stacks, newest, len(paths)
}

// TestStrippedPrograms records two stripped builds of one name and kills the recorder.
// The recording still tells them apart and names each from its own debug file, as
// binutils do, inlined functions included; a later file of the recording knows them too.
func TestStrippedPrograms(t *testing.T) {
	b := newBench(t, "names for stripped programs")
	all := clients(t)
	dir := t.TempDir()
	rec, err := b.ns.Record(b.bin, filepath.Join(dir, "cap.parquet"), "-e", "sys_connect", "-G", "1")
	must(t, err)
	t.Cleanup(func() { rec.Signal(syscall.SIGKILL) })
	pattern := filepath.Join(dir, "cap-*.parquet")
	var running []io.Closer
	for _, c := range all {
		running = append(running, c.run(t, b))
	}
	seen := func() bool {
		stacks, _, files := connects(t, pattern)
		sum := 0
		for n := range maps.Values(stacks) {
			sum += n
		}
		return sum >= 12 && files > 1
	}
	must(t, rig.Until("all have connected, in several files", seen))
	_, _, err = rec.End(syscall.SIGKILL)
	must(t, err)
	for _, in := range running {
		in.Close()
	}

	stacks, newest, _ := connects(t, pattern)
	for stack, n := range stacks {
		i := slices.IndexFunc(all, func(c *stripped) bool { return c.calls == n })
		if i < 0 {
			t.Fatalf("stacks %v", stacks)
		}
		all[i].judge(t, b, stack, dir, newest)
	}
	if len(stacks) != 2 {
		t.Errorf("stacks of two builds: %v", stacks)
	}
}

// judge compares what analyze says of the build with addr2line.
func (c *stripped) judge(t *testing.T, b bench, stack, dir string, newest *scan.Meta) {
	t.Helper()
	frames := strings.Split(stack, ";")
	var want []string
	listed := ""
	for i, f := range frames {
		name, addr, _ := strings.Cut(f, "+0x")
		if !strings.HasPrefix(name, "client(") {
			continue
		}
		var at uint64
		if _, err := fmt.Sscanf(addr, "%x", &at); err != nil {
			t.Fatalf("frame %s: %v", f, err)
		}
		if i < len(frames)-1 {
			at-- // the call, not where it returns to
		}
		listed = name
		want = append(want, c.addr2line(t, at)...)
	}
	if !slices.ContainsFunc(newest.Objects, func(o schema.Object) bool {
		return o.Name == listed && o.Path == filepath.Join(c.dir, "client") && o.BuildID != ""
	}) {
		t.Errorf("%s is not in the newest file's list: %+v", listed, newest.Objects)
	}
	out, err := exec.Command(b.bin, "analyze", dir, "connstacks", "-f", "csv", "--symbols", c.dir).Output()
	must(t, err)
	if line := strings.Join(want, ";"); !strings.Contains(plain(string(out)), line) || len(want) < 6 {
		t.Errorf("connstacks does not have %s:\n%s", line, out)
	}
	if n := strings.Count(string(out), "client("); n == 0 {
		t.Errorf("the other build got names of this one:\n%s", out)
	}
}

// addr2line is the functions at an address, outermost first.
func (c *stripped) addr2line(t *testing.T, at uint64) (names []string) {
	t.Helper()
	out, err := exec.Command("addr2line", "-fie", filepath.Join(c.dir, "client.full"), fmt.Sprintf("%x", at)).Output()
	must(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if i%2 == 0 { // every other line is a place in the source
			names = append(names, line)
		}
	}
	slices.Reverse(names)
	return names
}

// plain is folded stacks by names alone.
func plain(stacks string) string {
	frames := strings.Split(stacks, ";")
	for i, f := range frames {
		f, _, _ = strings.Cut(f, "+0x")
		frames[i] = strings.ReplaceAll(f, " (inlined)", "")
	}
	return strings.Join(frames, ";")
}
