package host

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// groupOf makes a group and gives its id as records have it.
func groupOf(t *testing.T, path string) uint32 {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return uint32(st.Ino)
}

func TestCgroupNames(t *testing.T) {
	root := t.TempDir()
	web, top := groupOf(t, filepath.Join(root, "system.slice/web.service")), groupOf(t, root)
	var c Cgroups
	c.look(root)
	if got := []string{c.Path(web), c.Path(top), c.Path(0)}; got[0] != "/system.slice/web.service" || got[1] != "/" || got[2] != "" {
		t.Errorf("groups are called %q", got)
	}
	later := groupOf(t, filepath.Join(root, "later")) // before the other is gone: this file system would use its number again
	if err := os.Remove(filepath.Join(root, "system.slice/web.service")); err != nil {
		t.Fatal(err)
	}
	c.look(root)
	if c.Path(web) != "/system.slice/web.service" || c.Path(later) != "/later" {
		t.Errorf("a group that is gone is called %q, a later one %q", c.Path(web), c.Path(later))
	}
}

// A group that was looked for in vain is known by its number and not looked for again.
func TestCgroupGone(t *testing.T) {
	const nobody = 4_000_000_123
	var c Cgroups
	want := "#" + strconv.Itoa(nobody)
	if got := c.Path(nobody); got != want || c.known[nobody] != want {
		t.Errorf("a group that is not there is called %q, noted as %q, want %q", got, c.known[nobody], want)
	}
	looked := c.next
	if c.Path(nobody) != want || c.next != looked {
		t.Error("looked for again")
	}
}

func TestCgroupOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cgroup"), []byte("9:name=systemd:/\n4:memory:/x\n0::/user.slice/a b.scope\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := cgroupOf(dir); got != "/user.slice/a b.scope" {
		t.Errorf("of version 2: %q", got)
	}
	if got := cgroupOf(filepath.Join(dir, "none")); got != "" {
		t.Errorf("of no process: %q", got)
	}
}
