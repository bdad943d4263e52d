package vmtest

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// moduleTrees are the parts of a Debian module tree that network tests can
// want, below kernel/. The rest (graphics, sound, storage, real network cards)
// is nine tenths of the package.
var moduleTrees = []string{
	"net/", "crypto/", "lib/", "arch/x86/crypto/",
	"fs/9p/", "fs/netfs/", "fs/fscache/", "fs/squashfs/", "fs/overlayfs/", "fs/fuse/",
	"drivers/virtio/", "drivers/block/virtio_blk", "drivers/block/loop",
	"drivers/char/virtio_console", "drivers/char/hw_random/",
	"drivers/net/",
}

// moduleHoles are cut out of moduleTrees again.
var moduleHoles = []string{
	"drivers/net/ethernet/", "drivers/net/wireless/", "drivers/net/usb/", "drivers/net/can/",
	"drivers/net/wwan/", "drivers/net/fddi/", "drivers/net/hippi/", "drivers/net/arcnet/",
}

// moduleKeep are put back although a hole covers them.
var moduleKeep = []string{
	"drivers/net/wireless/mac80211_hwsim", "drivers/net/wireless/virtual/",
	"drivers/net/can/vcan", "drivers/net/can/dev/",
}

// wantModule says whether a path below kernel/ is unpacked.
func wantModule(name string) bool {
	return hasAnyPrefix(name, moduleKeep) ||
		hasAnyPrefix(name, moduleTrees) && !hasAnyPrefix(name, moduleHoles)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// modulesIn is where a kernel's module trees are, one folder per release.
func modulesIn(dir string) string { return filepath.Join(dir, "modules", "lib", "modules") }

// unpackKernel takes the image and the wanted modules out of the packages and
// writes dir/vmlinux and the module tree.
func unpackKernel(ctx context.Context, debs []string, dir, release string) error {
	var bz []byte
	tree := filepath.Join(modulesIn(dir), release)
	for _, deb := range debs {
		if isHeaders(deb) {
			continue
		}
		err := walkDeb(ctx, deb, func(h *tar.Header, r io.Reader) error {
			if h.Typeflag != tar.TypeReg {
				return nil
			}
			rel, inTree := strings.CutPrefix(strings.TrimPrefix(h.Name, "usr/"), "lib/modules/"+release+"/")
			switch {
			case h.Name == "boot/vmlinuz-"+release, inTree && rel == "vmlinuz":
				var err error
				bz, err = io.ReadAll(io.LimitReader(r, maxImage))
				return err
			case !inTree:
				return nil
			case strings.HasPrefix(rel, "kernel/") && wantModule(rel[len("kernel/"):]),
				strings.HasPrefix(rel, "modules."):
				return writeFile(filepath.Join(tree, rel), r)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if bz == nil {
		return fmt.Errorf("no boot image of %s in %d packages", release, len(debs))
	}
	elf, err := extractVmlinux(ctx, bz)
	if err != nil {
		return fmt.Errorf("extracting vmlinux of %s: %w", release, err)
	}
	return os.WriteFile(filepath.Join(dir, "vmlinux"), elf, 0o644)
}

func writeFile(path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
