package priv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// childEnv selects what the re-executed test binary does instead of testing.
const childEnv = "PRIV_TEST_CHILD"

func TestMain(m *testing.M) {
	Init()
	switch role := os.Getenv(childEnv); role {
	case "":
		os.Exit(m.Run())
	case "abandon":
		abandon()
	default:
		json.NewEncoder(os.Stdout).Encode(dropAndTry(role))
		os.Exit(0)
	}
}

// outcome is what the child saw after Drop.
type outcome struct {
	Err      string
	Status   []map[string]string // of every thread
	Denied   map[string]bool     // attempts that were refused
	Written  bool                // a file opened before
	Mapped   bool                // memory mapped before
	Dumpable int
	Exec     string // why a program could not be run
}

func dropAndTry(role string) (o outcome) {
	// Threads that sleep in the kernel and threads that run must all change; each
	// exists, with its goroutine on it, before the change.
	var on sync.WaitGroup
	on.Add(2 * 6)
	for range 6 {
		go func() { runtime.LockOSThread(); on.Done(); select {} }()
		go func() {
			runtime.LockOSThread()
			on.Done()
			p := []int{0, 0}
			unix.Pipe(p)
			unix.Read(p[0], make([]byte, 1))
		}()
	}
	on.Wait()
	f, err := os.CreateTemp("", "priv")
	if err != nil {
		o.Err = err.Error()
		return o
	}
	defer os.Remove(f.Name())
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_SHARED)
	if err != nil {
		o.Err = err.Error()
		return o
	}
	var keep []Cap
	for _, s := range strings.Fields(role)[1:] {
		n, _ := strconv.Atoi(s)
		keep = append(keep, Cap(n))
	}
	if err := Drop(keep...); err != nil {
		o.Err = err.Error()
		return o
	}
	_, err = f.WriteString("still open")
	o.Written = err == nil
	mem[7] = 7
	o.Mapped = mem[7] == 7
	o.Dumpable, _ = unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	o.Denied = tryAll()
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, t := range tasks {
		m, err := readStatus(t)
		if err == nil {
			o.Status = append(o.Status, m)
		}
	}
	if out, err := exec.Command("true").CombinedOutput(); err != nil {
		o.Exec = err.Error() + string(out)
	}
	return o
}

func tryAll() map[string]bool {
	_, shadow := os.ReadFile("/etc/shadow")
	_, ps := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	all := exactly(setOf(SysAdmin, BPF))
	return map[string]bool{
		"read /etc/shadow":        shadow != nil,
		"read root's environment": ps != nil,
		"setuid(0)":               unix.Setresuid(0, 0, 0) != nil,
		"setgid(0)":               unix.Setresgid(0, 0, 0) != nil,
		"setgroups":               unix.Setgroups([]int{0}) != nil,
		"capset":                  unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &all[0]) != nil,
		"unset no_new_privs":      unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) != nil,
		"new network namespace":   unix.Unshare(unix.CLONE_NEWNET) != nil,
	}
}

func runChild(t *testing.T, role string, env ...string) outcome {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("dropping root's privileges needs root")
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "SUDO_") }), env...)
	cmd.Env = append(cmd.Env, childEnv+"="+role)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, stderr.Bytes())
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("child said %q: %v", out, err)
	}
	if o.Err != "" {
		t.Fatal(o.Err)
	}
	return o
}

func TestDrop(t *testing.T) {
	self := own(passwd)
	uid, gid := strconv.Itoa(self.UID), strconv.Itoa(self.GID)
	for _, tt := range []struct {
		name    string
		keep    []Cap
		env     []string
		uid     string
		gid     string
		allowed []string // attempts that the kept capabilities permit
	}{
		{"everything", nil, nil, uid, gid, nil},
		{"behind sudo", nil, []string{"SUDO_UID=1234", "SUDO_GID=2345"}, "1234", "2345", nil},
		{"sudo by root", nil, []string{"SUDO_UID=0", "SUDO_GID=0"}, uid, gid, nil},
		{"for user stacks", []Cap{SysPtrace, DACReadSearch}, nil, uid, gid,
			[]string{"read /etc/shadow", "read root's environment"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			role := "drop"
			for _, c := range tt.keep {
				role += " " + strconv.Itoa(int(c))
			}
			o := runChild(t, role, tt.env...)
			want := strconv.FormatUint(uint64(setOf(tt.keep...))|1<<63, 16)[1:] // 15 digits after a marker bit
			if len(o.Status) < 12 {
				t.Errorf("%d threads seen, the child made 12", len(o.Status))
			}
			for _, s := range o.Status {
				ids := strings.Join(strings.Fields(s["Uid"]+" "+s["Gid"]), " ")
				if wantIDs := strings.Join([]string{tt.uid, tt.uid, tt.uid, tt.uid, tt.gid, tt.gid, tt.gid, tt.gid}, " "); ids != wantIDs || s["Groups"] != "" {
					t.Errorf("ids %q, groups %q; want %q and none", ids, s["Groups"], wantIDs)
				}
				if s["CapPrm"][1:] != want || s["CapEff"][1:] != want || s["NoNewPrivs"] != "1" {
					t.Errorf("permitted %s, effective %s, no_new_privs %s; want %s, %[4]s, 1", s["CapPrm"], s["CapEff"], s["NoNewPrivs"], want)
				}
				for _, set := range []string{"CapInh", "CapBnd", "CapAmb"} {
					if strings.Trim(s[set], "0") != "" {
						t.Errorf("%s is %s, want none", set, s[set])
					}
				}
			}
			for what, denied := range o.Denied {
				if denied == slices.Contains(tt.allowed, what) {
					t.Errorf("%s: denied %v", what, denied)
				}
			}
			if !o.Written || !o.Mapped || o.Dumpable != 0 || o.Exec != "" {
				t.Errorf("old file written %v, old mapping %v, dumpable %d, exec %q", o.Written, o.Mapped, o.Dumpable, o.Exec)
			}
		})
	}
}

func TestTarget(t *testing.T) {
	for _, tt := range []struct {
		uid, gid   int
		sudo, sgid string
		want       Identity
	}{
		{0, 0, "", "", Identity{nobody, nobody}},
		{0, 0, "1000", "1001", Identity{1000, 1001}},
		{0, 0, "1000", "", Identity{1000, nobody}},
		{0, 0, "1000", "0", Identity{1000, nobody}},
		{0, 0, "0", "1000", Identity{nobody, nobody}},
		{0, 0, "-1", "1", Identity{nobody, nobody}},
		{0, 0, "4294967295", "1", Identity{nobody, nobody}},
		{0, 0, "root", "1", Identity{nobody, nobody}},
		{500, 501, "1000", "1000", Identity{500, 501}},
	} {
		if got := target(tt.uid, tt.gid, tt.sudo, tt.sgid, os.DevNull); got != tt.want {
			t.Errorf("target(%d, %d, %q, %q) = %v, want %v", tt.uid, tt.gid, tt.sudo, tt.sgid, got, tt.want)
		}
	}
}

// Verification must notice every kind of privilege that is left.
func TestCheckNotices(t *testing.T) {
	clean := func() map[string]string {
		return map[string]string{"Uid": "7\t7\t7\t7", "Gid": "8\t8\t8\t8", "Groups": "", "CapInh": "0", "CapPrm": "80000",
			"CapEff": "80000", "CapBnd": "0", "CapAmb": "0", "NoNewPrivs": "1"}
	}
	want := expectation{Identity{7, 8}, setOf(SysPtrace), true}
	if err := want.check(clean()); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"Uid": "7\t7\t0\t7", "Gid": "8\t0\t8\t8", "Groups": "0 4", "CapInh": "1", "CapPrm": "80001",
		"CapEff": "ffffffffff", "CapBnd": "80000", "CapAmb": "1", "NoNewPrivs": "0"} {
		s := clean()
		s[key] = value
		if want.check(s) == nil {
			t.Errorf("%s %q was not noticed", key, value)
		}
		delete(s, key)
		if want.check(s) == nil && key != "Groups" {
			t.Errorf("missing %s was not noticed", key)
		}
	}
}

func TestNeed(t *testing.T) {
	for _, tt := range []struct {
		have    capSet
		memlock bool
		want    []Cap
	}{
		{setOf(BPF, Perfmon), false, nil},
		{setOf(SysAdmin), false, nil},
		{setOf(BPF), false, []Cap{Perfmon}},
		{0, true, []Cap{BPF, Perfmon, SysResource}},
		{setOf(SysAdmin), true, []Cap{SysResource}},
	} {
		if got := required(tt.have, tt.memlock); !slices.Equal(got, tt.want) {
			t.Errorf("required(%x, %v) = %v, want %v", tt.have, tt.memlock, got, tt.want)
		}
	}
	m := &Missing{Caps: []Cap{BPF, Perfmon, SysResource}}
	if got := m.Error(); got != "recording needs CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE" {
		t.Errorf("error %q", got)
	}
	if !strings.Contains(m.Hint(), "setcap cap_bpf") {
		t.Errorf("hint %q", m.Hint())
	}
	if got := stuck(setOf(BPF, Perfmon), true); !slices.Equal(got, []Cap{setuid, setgid}) || len(stuck(0, false)) != 0 {
		t.Errorf("root without them is kept from stopping to be root by %v", got)
	}
	if n := len(lacks(0, false, 0)); n != 4 {
		t.Errorf("%d lacks without capabilities, want 4", n)
	}
	if got := lacks(setOf(SysPtrace, DACReadSearch, Syslog), false, 3); len(got) != 2 || !strings.Contains(got[1].Loses, "perf_event_paranoid is 3") {
		t.Errorf("lacks where perf events are closed: %v", got)
	}
	if got := lacks(setOf(SysPtrace, SysAdmin, Syslog), true, 3); len(got) != 0 {
		t.Errorf("root lacks %v", got)
	}
	err := Need()
	if errors.As(err, &m) == (os.Geteuid() == 0 && !contained()) {
		t.Errorf("Need() = %v for uid %d", err, os.Geteuid())
	}
}

func TestBefore511(t *testing.T) {
	for release, want := range map[string]bool{"5.10.0-35-amd64": true, "4.19.1": true, "5.11.0": false, "6.1.0": false, "7.2": false, "": false} {
		if got := before(release, 5, 11); got != want {
			t.Errorf("before(%q, 5, 11) = %v", release, got)
		}
	}
}

// A user of its own is taken where the host has one that is somebody.
func TestOwnUser(t *testing.T) {
	none := Identity{nobody, nobody}
	for users, want := range map[string]Identity{
		"": none,
		"root:x:0:0::/root:/bin/sh\nnetrec:x:991:989:netrec:/:/usr/sbin/nologin\n": {991, 989},
		"netrec:x:991:989::/:/bin/false":                                           {991, 989},
		"netrecorder:x:7:7::/:\n":                                                  none,
		"netrec:x:0:0::/:\n":                                                       none,
		"netrec:x:991:0::/:\n":                                                     none,
		"netrec:x:-1:7::/:\n":                                                      none,
		"netrec:x\n":                                                               none,
	} {
		path := filepath.Join(t.TempDir(), "passwd")
		if err := os.WriteFile(path, []byte(users), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := target(0, 0, "", "", path); got != want {
			t.Errorf("%q: %v, want %v", users, got, want)
		}
		if got := target(0, 0, "1000", "1000", path); got != (Identity{1000, 1000}) {
			t.Errorf("%q, by sudo: %v", users, got)
		}
	}
	if got := own("/no/such/file"); got != none {
		t.Errorf("without a list of users: %v", got)
	}
}
