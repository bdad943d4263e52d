package truth

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
	"netrec/internal/bench/vmtest/traffic"
	"netrec/schema"
)

// lookupFunctions is what testdata/lookup.c can call.
var lookupFunctions = []string{"getaddrinfo", "gethostbyname", "gethostbyname2", "gethostbyname_r", "gethostbyname2_r"}

// lookupNames are below domains that the name server of package traffic knows: found,
// found with one family only, not there, as long as a name may be, and too long.
var lookupNames = []string{"one.both.test", "two.four.test", "three.none.test", long(253), long(300)}

// long is a name of so many bytes that does not exist.
func long(n int) string {
	const end = ".none.test"
	s := strings.Repeat(strings.Repeat("x", 49)+".", n/50+1)
	return s[:n-len(end)-1] + "x" + end
}

// buildLookup compiles the program that looks names up, for the C library of this machine
// and for one that is not here.
func buildLookup(t *testing.T, dir string) {
	t.Helper()
	const interp = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
	for _, args := range [][]string{
		{"-O1", "-o", dir + "/lookup", "testdata/lookup.c"},
		{"-O1", "-pthread", "-o", dir + "/doors", "testdata/doors.c"},
		{"-shared", "-nostdlib", "-fno-builtin", "-w", "-Wl,-soname,libc.so", "-o", dir + "/libstub.so", "testdata/stub.c"},
		{"-O1", "-DBARE", "-nostdlib", "-fno-stack-protector", interp, "-o", dir + "/lookup-musl", "testdata/lookup.c", dir + "/libstub.so"},
	} {
		if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
			t.Fatalf("cc %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// lookupRun is a program under way that looks names up.
type lookupRun struct {
	name string
	lib  string // end of the path by which it calls its library
	cmd  *exec.Cmd
	out  bytes.Buffer
}

// lookupBench has a namespace with a name server.
type lookupBench struct {
	t     *testing.T
	tools string
	ns    *rig.Namespace
	dir   string
	input *os.File // of programs to be started; nil for one that has ended
}

func newLookupBench(t *testing.T, tools string) *lookupBench {
	t.Helper()
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	b := &lookupBench{t: t, tools: tools, ns: ns, dir: t.TempDir()}
	var server net.PacketConn
	err = ns.Do(func() (err error) { server, err = net.ListenPacket("udp4", "127.0.0.1:53"); return err })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		q := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(q)
			if err != nil {
				return
			}
			if a := traffic.Answer(q[:n]); a != nil {
				_, _ = server.WriteTo(a, from)
			}
		}
	}()
	b.write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n")
	return b
}

func (b *lookupBench) write(name, text string) string {
	path := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// copyInto copies files of this machine into a folder below the bench's, under their own paths.
func (b *lookupBench) copyInto(root string, files ...string) {
	for _, f := range files {
		to := filepath.Join(b.dir, root, f)
		in, err := os.ReadFile(f)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, in, 0o755)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// libc is the path of the C library that the program would use here, and its loader.
func (b *lookupBench) libc() (lib, loader string) {
	for line := range strings.Lines(output(b.t, "/lib64/ld-linux-x86-64.so.2", "--list", b.tools+"/lookup")) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == "libc.so.6" {
			lib = f[2]
		}
	}
	if lib == "" {
		b.t.Fatal("the program has no C library")
	}
	return lib, "/lib64/ld-linux-x86-64.so.2"
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// root makes a folder to be the root of a process, with a C library of its own.
func (b *lookupBench) root(name string) string {
	lib, loader := b.libc()
	b.copyInto(name, lib, loader)
	b.write(name+"/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n")
	b.write(name+"/etc/nsswitch.conf", "hosts: dns\n")
	bin, err := os.ReadFile(b.tools + "/lookup")
	if err = errors.Join(err, os.WriteFile(filepath.Join(b.dir, name, "lookup"), bin, 0o755)); err != nil {
		b.t.Fatal(err)
	}
	return filepath.Join(b.dir, name)
}

// start runs a program in the namespace that calls every function for every name.
func (b *lookupBench) start(name, lib string, attr *syscall.SysProcAttr, argv ...string) *lookupRun {
	for _, f := range lookupFunctions {
		for _, n := range lookupNames {
			argv = append(argv, f, n)
		}
	}
	r := &lookupRun{name: name, lib: lib, cmd: exec.Command(argv[0], argv[1:]...)}
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = &r.out, &r.out, attr
	if b.input != nil {
		r.cmd.Stdin = b.input
	}
	if attr.Chroot != "" {
		r.cmd.Dir = "/"
	}
	if err := b.ns.Do(r.cmd.Start); err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// TestLibraries looks names up through C libraries in all places where they can be, with
// processes that were there before the recorder and that come later.
func TestLibraries(t *testing.T) {
	tools := needTools(t, "name lookups in C libraries anywhere")
	b := newLookupBench(t, tools)
	lib, _ := b.libc()
	odd := filepath.Join(b.dir, "odd.so")
	b.copyInto("odd", lib)
	if err := os.Rename(filepath.Join(b.dir, "odd", lib), odd); err != nil {
		t.Fatal(err)
	}
	hold, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b.input = hold
	early := b.start("own root, before the recorder", filepath.Base(lib), &syscall.SysProcAttr{Chroot: b.root("early")}, "/lookup")
	b.input = nil
	capture := filepath.Join(b.dir, "cap.parquet")
	rec, err := b.ns.Record(tools+"/netrec", capture, "-e", "dns_call", "--dns-lib", odd, "--dns-follow")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = hold.Close(), held.Close() // the recorder is ready, the early one may go on
	runs := append(b.later(odd), early)
	for _, r := range runs {
		if err := r.cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", r.name, err, r.out.String())
		}
	}
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) { r.check(t, c) })
	}
	for _, e := range checkAccount(c, false) {
		t.Error(e)
	}
}

// later starts programs whose libraries are the host's own, in another root, under another
// name, mounted over the host's, and musl's.
func (b *lookupBench) later(odd string) []*lookupRun {
	lib, loader := b.libc()
	base := filepath.Base(lib)
	newns := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	child := []string{b.tools + "/traffic", traffic.LookupFlag, b.dir + "/resolv.conf"}
	runs := []*lookupRun{
		b.start("host's library", base, newns, append(child, b.tools+"/lookup")...),
		b.start("own root, later", base, &syscall.SysProcAttr{Chroot: b.root("late")}, "/lookup"),
		b.start("library of another name", "odd.so", newns, append(child, loader, "--preload", odd, b.tools+"/lookup")...),
		b.start("mounted over", base, newns, append(child, "sh", "-c", `mount --bind "$1" "$0" && shift && exec "$@"`, lib,
			filepath.Join(b.root("over"), lib), b.tools+"/lookup")...),
	}
	if _, err := os.Stat("/lib/ld-musl-x86_64.so.1"); err == nil {
		runs = append(runs, b.start("musl", "", newns, append(child, b.tools+"/lookup-musl")...))
	} else if os.Getenv(guestEnv) != "" {
		b.t.Errorf("musl: %v", err)
	} else {
		b.t.Log("this machine has no musl: its library is not checked here")
	}
	return runs
}

// check holds what the program printed against its rows, one by one.
func (r *lookupRun) check(t *testing.T, c *Capture) {
	rows := c.Select("dns_call", Num("pid", int64(r.cmd.Process.Pid)))
	sc := bufio.NewScanner(strings.NewReader(r.out.String()))
	var waited time.Duration
	if !sc.Scan() {
		t.Fatal("the program said nothing")
	}
	if _, err := fmt.Sscanf(sc.Text(), "probes %d", &waited); err != nil {
		t.Fatalf("the program said %q", sc.Text())
	}
	t.Logf("probes came after %s", waited)
	n := 0
	for ; sc.Scan() && n < len(rows); n++ {
		var fn string
		var family, ret, found, herr, before, after int64
		if _, err := fmt.Sscanf(sc.Text(), "%s %d %d %d %d %d %d", &fn, &family, &ret, &found, &herr, &before, &after); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("the program said %q", sc.Text())
		}
		name := lookupNames[n%len(lookupNames)]
		row := &rows[n]
		want := fmt.Sprint(fn, " ", schema.Enums["family"].Lookup(family), " ", name[:min(len(name), 255)], " ", ret, " ", found, " ", herrnoName(fn, found, herr))
		got := fmt.Sprint(row.Str["func"], " ", row.Str["family"], " ", row.Str["host"], " ", row.Int["ret"], " ", row.Int["found"], " ", row.Str["h_errno"])
		if got != want {
			t.Errorf("row %d: %s, the call was %s", n, got, want)
		}
		if row.TS < before || row.TS > after || row.Int["dur_ns"] <= 0 || row.TS-row.Int["dur_ns"] < before {
			t.Errorf("row %d: %d ns until %d, the call was from %d to %d", n, row.Int["dur_ns"], row.TS, before, after)
		}
		if !r.ofLibrary(row.Str["lib"], c) {
			t.Errorf("row %d: library %q, not one that ends in %q", n, row.Str["lib"], r.lib)
		}
	}
	if want := len(lookupFunctions) * len(lookupNames); n != want || len(rows) != want {
		t.Errorf("%d rows for %d calls", len(rows), want)
	}
}

// ofLibrary compares the end of a library's path. Kernels before 5.15 do not know one
// that came later.
func (r *lookupRun) ofLibrary(path string, c *Capture) bool {
	return strings.HasSuffix(path, r.lib) && path != "" || path == "" && strings.HasPrefix(c.Meta.Host.Kernel, "5.10.")
}

// herrnoName is how the row names what the program saw in h_errno; it means nothing where
// something was found, and getaddrinfo has none.
func herrnoName(fn string, found, v int64) string {
	names := []string{"NETDB_INTERNAL", "NETDB_SUCCESS", "HOST_NOT_FOUND", "TRY_AGAIN", "NO_RECOVERY", "NO_DATA"}
	if fn == "getaddrinfo" || found == 1 || v < -1 || v > 4 {
		return ""
	}
	return names[v+1]
}
