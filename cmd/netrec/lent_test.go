package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// lend gives a binary the capabilities that the hints of record name, as setcap(8) does.
func lend(t *testing.T, path string) {
	t.Helper()
	const revision2, effective = 0x02000000, 1
	caps := uint64(1)<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_BPF | 1<<unix.CAP_PERFMON
	var b bytes.Buffer
	for _, v := range []uint32{revision2 | effective, uint32(caps), 0, uint32(caps >> 32), 0} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
	}
	if err := unix.Setxattr(path, "security.capability", b.Bytes(), 0); err != nil {
		t.Skipf("not checked, this file system keeps no capabilities: that they are given up: %v", err)
	}
}

// A binary that was lent capabilities for record shows its users nothing that is not theirs.
func TestLentCapabilitiesAreGivenUp(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: not checked: that commands give up capabilities which the binary has")
	}
	dir := t.TempDir()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary, secret := filepath.Join(dir, "netrec"), filepath.Join(dir, "secret.parquet")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(secret, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	lend(t, binary)
	as := func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("netrec %s: no error", strings.Join(args, " "))
		}
		return string(out)
	}
	for _, args := range [][]string{{"analyze", secret}, {"export", secret, "--to", "arrow", "-o", dir + "/x"}, {"report", secret, "-o", dir + "/x.html"}} {
		if out := as(args...); !strings.Contains(out, "permission denied") {
			t.Errorf("netrec %s as another user: %s", strings.Join(args, " "), out)
		}
	}
}
