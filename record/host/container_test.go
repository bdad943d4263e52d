package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of containers as the engines lay them out, below a root. Each has more than is read.
var containerFiles = map[string]string{
	"var/lib/docker/containers/aaaa00000000000000000000/config.v2.json": `{"StreamConfig":{},"State":{"Running":true,"Pid":4425},"ID":"aaaa00000000000000000000",
		"Created":"2026-03-01T13:52:00Z","Config":{"Hostname":"aaaa00000000","Image":"nginx"},"Name":"/web","Driver":"overlay2"}`,
	"var/lib/docker/containers/bbbb00000000000000000000/config.v2.json": `{"ID":"bbbb00000000000000000000","Name":"/stopped"}`,
	"var/lib/docker/containers/cccc00000000000000000000/config.v2.json": `{"ID":`,
	"var/lib/containers/storage/overlay-containers/containers.json": `[{"id":"dddd00000000000000000000","names":["db"],"image":"e1","layer":"l1",
		"metadata":"{\"image-name\":\"postgres\",\"name\":\"db\"}","created":"2026-03-01T13:52:00Z"},{"id":"eeee00000000000000000000","names":["k8s_api_api-0_shop_u_0"]}]`,
	"run/containers/storage/overlay-containers/eeee00000000000000000000/userdata/config.json": `{"ociVersion":"1.1.0","process":{"args":["api"]},
		"annotations":{"io.kubernetes.container.name":"api","io.kubernetes.pod.name":"api-0","io.kubernetes.pod.namespace":"shop"}}`,
	"run/containerd/io.containerd.runtime.v2.task/k8s.io/ffff00000000000000000001/config.json": `{"ociVersion":"1.1.0","annotations":{"io.kubernetes.cri.container-type":"container",
		"io.kubernetes.cri.container-name":"proxy","io.kubernetes.cri.sandbox-name":"edge-1","io.kubernetes.cri.sandbox-namespace":"shop"}}`,
	"run/containerd/io.containerd.runtime.v2.task/k8s.io/ffff00000000000000000002/config.json": `{"ociVersion":"1.1.0","annotations":{"io.kubernetes.cri.container-type":"container",
		"io.kubernetes.cri.container-name":"proxy","io.kubernetes.cri.sandbox-name":"edge-2","io.kubernetes.cri.sandbox-namespace":"shop"}}`,
	"run/containerd/io.containerd.runtime.v2.task/k8s.io/ffff00000000000000000003/config.json":  `{"annotations":{"io.kubernetes.cri.container-type":"sandbox","io.kubernetes.cri.sandbox-name":"edge-1"}}`,
	"run/containerd/io.containerd.runtime.v2.task/default/ffff00000000000000000004/config.json": `{"annotations":{"nerdctl/name":"cache"}}`,
}

func TestContainersByName(t *testing.T) {
	root, cgroups := t.TempDir(), t.TempDir()
	for path, text := range containerFiles {
		path = filepath.Join(root, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, dir := range []string{"system.slice/docker-aaaa00000000000000000000.scope", "machine.slice/libpod-dddd00000000000000000000.scope",
		"kubepods.slice/crio-eeee00000000000000000000.scope", "kubepods.slice/cri-containerd-ffff00000000000000000001.scope",
		"kubepods.slice/cri-containerd-ffff00000000000000000002.scope", "default/ffff00000000000000000004", "lxc.payload.old"} {
		must(t, os.MkdirAll(filepath.Join(cgroups, dir), 0o755))
	}
	for _, tt := range []struct{ word, want, err string }{
		{"web", "/system.slice/docker-aaaa00000000000000000000.scope", ""},
		{"aaaa0000", "/system.slice/docker-aaaa00000000000000000000.scope", ""},
		{"db", "/machine.slice/libpod-dddd00000000000000000000.scope", ""},
		{"api", "/kubepods.slice/crio-eeee00000000000000000000.scope", ""},
		{"k8s_api_api-0_shop_u_0", "/kubepods.slice/crio-eeee00000000000000000000.scope", ""},
		{"edge-2/proxy", "/kubepods.slice/cri-containerd-ffff00000000000000000002.scope", ""},
		{"shop/edge-1/proxy", "/kubepods.slice/cri-containerd-ffff00000000000000000001.scope", ""},
		{"cache", "/default/ffff00000000000000000004", ""},
		{"old", "/lxc.payload.old", ""},
		{"proxy", "", "matches shop/edge-1/proxy (ffff00000000), shop/edge-2/proxy (ffff00000000)"},
		{"stopped", "", "does not run (no cgroup has the id bbbb00000000)"},
		{"nothing", "", "no cgroup in"},
	} {
		got, err := containerCgroup(root, cgroups, tt.word)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("container %q: got %q, %v, want %q, %q", tt.word, got, err, tt.want, tt.err)
		}
	}
}

// TestContainerFilesAreBounded: what lies in these folders may be anything.
func TestContainerFilesAreBounded(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "var/lib/docker/containers")
	long := filepath.Join(dir, "aaaa/config.v2.json")
	must(t, os.MkdirAll(filepath.Dir(long), 0o755))
	must(t, os.WriteFile(long, nil, 0o600))
	must(t, os.Truncate(long, maxContainerFile+1))
	must(t, os.MkdirAll(filepath.Join(dir, "bbbb"), 0o755))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "bbbb/config.v2.json")))
	if found, err := containersNamed(root, "web"); len(found) != 0 || err == nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
