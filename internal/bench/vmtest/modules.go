package vmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// earlyModules are what a guest needs before it has its root. Kernels that
// have some of them built in just lack the file.
var earlyModules = []string{
	"virtio_pci", "virtio_blk", "virtio_console", "squashfs", "overlay", "9pnet_virtio", "9p",
}

// indexModules makes the tree usable for modprobe and copies the early modules,
// in loading order, to dir/early.
func indexModules(ctx context.Context, img image, dir, release string) error {
	tree := filepath.Join(modulesIn(dir), release)
	if err := unpackModules(ctx, tree); err != nil {
		return err
	}
	if err := img.depmod(ctx, filepath.Join(dir, "modules"), release); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(tree, "modules.dep"))
	if err != nil {
		return fmt.Errorf("reading module dependencies: %w", err)
	}
	early := filepath.Join(dir, "early")
	if err := os.Mkdir(early, 0o755); err != nil {
		return err
	}
	for i, name := range loadOrder(string(text), earlyModules) {
		ko, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return fmt.Errorf("reading an early module: %w", err)
		}
		out := fmt.Sprintf("%02d-%s.ko", i, moduleName(name))
		if err := os.WriteFile(filepath.Join(early, out), ko, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// loadOrder lists the files of modules and all they need, dependencies first.
// In modules.dep the modules after the colon stand in reverse loading order.
func loadOrder(dep string, modules []string) []string {
	needs := map[string][]string{}
	for line := range strings.Lines(dep) {
		file, deps, _ := strings.Cut(line, ":")
		needs[moduleName(file)] = append([]string{file}, strings.Fields(deps)...)
	}
	var out []string
	for _, m := range modules {
		for _, file := range slices.Backward(needs[m]) {
			if !slices.Contains(out, file) {
				out = append(out, file)
			}
		}
	}
	return out
}

// moduleName is the name modprobe knows for a module's file.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// unpackModules replaces compressed modules by plain ones: the host unpacks them
// once, an emulated guest would at every modprobe.
func unpackModules(ctx context.Context, tree string) error {
	var packed []string
	err := filepath.WalkDir(tree, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".ko.xz") {
			packed = append(packed, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("listing modules: %w", err)
	}
	// Few enough names for one command line.
	for chunk := range slices.Chunk(packed, 500) {
		args := append([]string{"--decompress", "--"}, chunk...)
		if _, err := runCommand(exec.CommandContext(ctx, "xz", args...)); err != nil {
			return fmt.Errorf("unpacking modules: %w", err)
		}
	}
	return nil
}

// depmod runs the depmod of the root image with the image's own loader and
// libraries: the host need not have kmod, and nothing is run as in a chroot.
func (img image) depmod(ctx context.Context, base, release string) error {
	tools := filepath.Join(img.dir, "tools")
	cmd := exec.CommandContext(ctx, filepath.Join(tools, "ld-linux-x86-64.so.2"),
		"--argv0", "depmod", "--library-path", tools, filepath.Join(tools, "kmod"), "-b", base, release)
	if _, err := runCommand(cmd); err != nil {
		return fmt.Errorf("indexing modules: %w", err)
	}
	if _, err := os.Stat(filepath.Join(base, "lib/modules", release, "modules.dep.bin")); err != nil {
		return errors.New("indexing modules: depmod wrote no modules.dep.bin")
	}
	return nil
}
