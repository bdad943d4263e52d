package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindContainer(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{
		"system.slice/docker-abcd00112233.scope/nested-abcd00112233",
		"machine.slice/libpod-beef44556677.scope", "machine.slice/libpod-conmon-beef44556677.scope",
		"kubepods/pod1/cri-containerd-feed88990011.scope", "kubepods/pod2/cri-containerd-feed88990022.scope",
		"lxc.payload.web", "lxc.payload.web2", "system.slice/xabce.service",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ id, want, err string }{
		{"abcd00112233", "/system.slice/docker-abcd00112233.scope", ""},
		{"abcd", "/system.slice/docker-abcd00112233.scope", ""},
		{"beef44556677", "/machine.slice/libpod-beef44556677.scope", ""},
		{"feed88990022", "/kubepods/pod2/cri-containerd-feed88990022.scope", ""},
		{"feed8899", "", "matches /kubepods/pod1/"},
		{"web", "/lxc.payload.web", ""},
		{"abce", "", "no cgroup in"},
		{"", "", "empty id"},
	} {
		got, err := findContainer(root, tt.id)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("container %q: got %q, %v, want %q, %q", tt.id, got, err, tt.want, tt.err)
		}
	}
}

func TestCgroupMount(t *testing.T) {
	for line, want := range map[string]string{
		`30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate`: "/sys/fs/cgroup",
		`40 24 0:35 / /sys/fs/cgroup/un\040ified rw,relatime - cgroup2 none rw`:          "/sys/fs/cgroup/un ified",
		`31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`:                      "",
		`31 23 - cgroup2 x`: "",
		``:                  "",
	} {
		if got, ok := cgroupMount(line); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", line, got, ok, want)
		}
	}
}
