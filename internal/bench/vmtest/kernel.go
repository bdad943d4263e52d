package vmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cacheFormat is part of every cached folder's name: a change in how kernels
// are unpacked makes old folders unknown instead of wrong.
const cacheFormat = "4"

// Kernel is one fetched kernel.
type Kernel struct {
	// Name is what [Config] calls it: "6.12", "newest".
	Name string
	// Package is the Debian package that holds the image.
	Package string
	// Version is the package's exact version.
	Version string
	// Release is what uname -r says in the guest.
	Release string
	// Suite is the archive suite it came from.
	Suite string

	dir string
}

// source says where a series is found. An empty series takes the newest.
type source struct {
	name, series, suite string
	headers             bool // for programs that compile against the kernel in the guest
}

// sources are Debian's homes of each series. The 6.12 backport for bookworm is
// published as a security update, not in bookworm-backports.
var sources = []source{
	{"5.10", "5.10", "bullseye-security", false},
	{"6.1", "6.1", "bookworm-security", true},
	{"6.12", "6.12", "bookworm-security", true},
	{"6.18", "6.18", "trixie-backports", false},
	{"newest", "", "sid", false},
}

// Names lists the kernels that [Run] and [Prepare] know, oldest first.
func Names() []string {
	out := make([]string, len(sources))
	for i, s := range sources {
		out[i] = s.name
	}
	return out
}

// DefaultKernel is the one to run when nobody says otherwise.
const DefaultKernel = "6.1"

// Select reads a list of kernels as tests take it: names separated by commas,
// or "all". An empty list is the one in NETREC_KERNELS, or [DefaultKernel];
// "none" there selects nothing, for machines that cannot emulate.
func Select(list string) ([]string, error) {
	if list == "" {
		list = os.Getenv("NETREC_KERNELS")
	}
	switch list {
	case "":
		return []string{DefaultKernel}, nil
	case "all":
		return Names(), nil
	case "none":
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if _, err := findSource(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Prepare makes a kernel and the root image ready to boot, from the cache or
// from the archive, and says what it is. Several processes may ask at once.
func Prepare(ctx context.Context, name string) (Kernel, error) {
	src, err := findSource(name)
	if err != nil {
		return Kernel{}, err
	}
	if err := checkTools(bootTools); err != nil {
		return Kernel{}, err
	}
	cache, err := makeCache()
	if err != nil {
		return Kernel{}, err
	}
	img, err := prepareImage(ctx, cache, DefaultDebian, commandRoot)
	if err != nil {
		return Kernel{}, fmt.Errorf("preparing the guest's root image: %w", err)
	}
	dir, err := build(ctx, cache, kernelFolder(name), func(dir string) error {
		return fetchKernel(ctx, src, img, dir)
	})
	if err != nil {
		return Kernel{}, fmt.Errorf("preparing kernel %s: %w", name, err)
	}
	return readKernel(dir)
}

// Cached lists the kernels that are ready to boot without the network.
func Cached() ([]Kernel, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	var out []Kernel
	for _, name := range Names() {
		k, err := readKernel(filepath.Join(cache, kernelFolder(name)))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func kernelFolder(name string) string { return "linux-" + name + "-v" + cacheFormat }

func findSource(name string) (source, error) {
	for _, s := range sources {
		if s.name == name {
			return s, nil
		}
	}
	return source{}, fmt.Errorf("unknown kernel %q; known are %s", name, strings.Join(Names(), ", "))
}

func readKernel(dir string) (Kernel, error) {
	text, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return Kernel{}, fmt.Errorf("reading a cached kernel: %w", err)
	}
	k := Kernel{dir: dir}
	if err := json.Unmarshal(text, &k); err != nil {
		return Kernel{}, fmt.Errorf("reading a cached kernel in %s: %w", dir, err)
	}
	return k, nil
}

// fetchKernel fills dir with vmlinux, modules and kernel.json.
func fetchKernel(ctx context.Context, src source, img image, dir string) error {
	if err := checkTools(fetchTools); err != nil {
		return err
	}
	work := filepath.Join(dir, "apt")
	apt, err := newAptRoot(ctx, work, src.suite)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	k, packages, err := choose(ctx, apt, src)
	if err != nil {
		return err
	}
	if src.headers {
		packages = append(packages, headersPackages(k.Release)...)
	}
	debs, err := apt.download(ctx, packages...)
	if err != nil {
		return err
	}
	if err := unpackKernel(ctx, debs, dir, k.Release); err != nil {
		return err
	}
	if err := unpackHeaders(ctx, debs, dir); err != nil {
		return err
	}
	if err := indexModules(ctx, img, dir, k.Release); err != nil {
		return err
	}
	text, err := json.MarshalIndent(k, "", "\t")
	if err != nil {
		return fmt.Errorf("describing kernel %s: %w", k.Name, err)
	}
	return os.WriteFile(filepath.Join(dir, "kernel.json"), text, 0o644)
}
