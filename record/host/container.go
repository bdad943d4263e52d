package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what is read to learn the names of containers.
const (
	maxContainerFiles = 10_000
	maxContainerFile  = 8 << 20
)

// container is one that an engine has on this host.
type container struct {
	id    string
	names []string // web, and for pods also pod/web and namespace/pod/web
}

// engine is where a container engine keeps what it knows, and how to read that.
type engine struct {
	files string // a pattern below the root
	read  func(path string, text []byte) []container
}

// engines are Docker; containers/storage, which Podman and CRI-O use, for its list and for what it
// runs; and containerd.
var engines = []engine{
	{"var/lib/docker/containers/*/config.v2.json", dockerContainer},
	{"var/lib/containers/storage/*-containers/containers.json", storedContainers},
	{"run/containers/storage/*-containers/*/userdata/config.json", ociContainer},
	{"run/containerd/io.containerd.runtime.v2.task/*/*/config.json", ociContainer},
}

// dockerContainer reads Docker's own file of a container.
func dockerContainer(_ string, text []byte) []container {
	var c struct{ ID, Name string }
	if json.Unmarshal(text, &c) != nil {
		return nil
	}
	return []container{{c.ID, []string{strings.TrimPrefix(c.Name, "/")}}}
}

// storedContainers reads the list of containers/storage.
func storedContainers(_ string, text []byte) (all []container) {
	var list []struct {
		ID    string   `json:"id"`
		Names []string `json:"names"`
	}
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	for _, c := range list {
		all = append(all, container{c.ID, c.Names})
	}
	return all
}

// podNames are the annotations that name a container, its pod and the pod's namespace: those of
// containerd, those of CRI-O, and nerdctl's.
var podNames = [][3]string{
	{"io.kubernetes.cri.container-name", "io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.sandbox-namespace"},
	{"io.kubernetes.container.name", "io.kubernetes.pod.name", "io.kubernetes.pod.namespace"},
	{"nerdctl/name", "", ""},
}

// ociContainer reads what a runtime was told to run. The folder has the id as its name, or is
// called userdata within one that has.
func ociContainer(path string, text []byte) []container {
	var c struct {
		Annotations map[string]string `json:"annotations"`
	}
	if json.Unmarshal(text, &c) != nil {
		return nil
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "userdata" {
		dir = filepath.Dir(dir)
	}
	for _, keys := range podNames {
		name, pod, namespace := c.Annotations[keys[0]], c.Annotations[keys[1]], c.Annotations[keys[2]]
		if name == "" {
			continue
		}
		names := []string{name}
		if pod != "" {
			names = append(names, pod+"/"+name, namespace+"/"+pod+"/"+name)
		}
		return []container{{filepath.Base(dir), names}}
	}
	return nil
}

// containersNamed are the containers of a name, as the files below root have them. The error is of
// files that could not be read, and matters only if nothing was found.
func containersNamed(root, name string) (found []container, err error) {
	files := 0
	for _, e := range engines {
		paths, _ := filepath.Glob(filepath.Join(root, e.files)) // the patterns are right
		for _, path := range paths {
			if files++; files > maxContainerFiles {
				return found, fmt.Errorf("more than %d files of containers", maxContainerFiles)
			}
			text, ferr := readBounded(path)
			if ferr != nil && !errors.Is(ferr, os.ErrNotExist) {
				err = ferr
			}
			for _, c := range e.read(path, text) {
				if c.id != "" && slices.Contains(c.names, name) && !slices.ContainsFunc(found, func(f container) bool { return f.id == c.id }) {
					found = append(found, c)
				}
			}
		}
	}
	return found, err
}

// readBounded reads a regular file that is not too long, without waiting for it.
func readBounded(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxContainerFile {
		return nil, fmt.Errorf("%s: no file of at most %d bytes", path, maxContainerFile)
	}
	return io.ReadAll(io.LimitReader(f, maxContainerFile))
}

// Container finds the cgroup of a container by its name, its id or the start of the id. Names are
// those of Docker, Podman, CRI-O and containerd's pods; pod/web and namespace/pod/web tell
// containers of the same name apart.
func Container(word string) (uint64, string, error) {
	root, err := cgroupRoot()
	if err != nil {
		return 0, "", err
	}
	path, err := containerCgroup("/", root, word)
	if err != nil {
		return 0, "", err
	}
	n, err := cgroupID(filepath.Join(root, path))
	return n, path, err
}

// containerCgroup looks for a name first: an id is long, and nobody calls a container by the id of
// another. Of containers of one name it takes the one that runs.
func containerCgroup(root, cgroups, word string) (string, error) {
	named, unread := containersNamed(root, word)
	var paths, names []string
	for _, c := range named {
		if path, err := findContainer(cgroups, c.id); err == nil {
			paths, names = append(paths, path), append(names, c.names[len(c.names)-1]+" ("+c.id[:min(12, len(c.id))]+")")
		}
	}
	switch {
	case len(paths) == 1:
		return paths[0], nil
	case len(paths) > 1:
		return "", fmt.Errorf("container %s: matches %s", word, strings.Join(names[:min(3, len(names))], ", "))
	case len(named) > 0:
		return "", fmt.Errorf("container %s: does not run (no cgroup has the id %s)", word, named[0].id[:min(12, len(named[0].id))])
	}
	path, err := findContainer(cgroups, word)
	if err != nil && unread != nil {
		err = fmt.Errorf("%w; names are not known: %w", err, unread)
	}
	return path, err
}
