package vmtest

import (
	"archive/tar"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// headersPackages are the packages that a program which compiles against a
// release in the guest needs.
func headersPackages(release string) []string {
	return []string{"linux-headers-" + release, "linux-headers-" + strings.TrimSuffix(release, "-amd64") + "-common"}
}

// headers is the folder that a guest sees as /usr/src. It comes over 9p: where
// Linux 6.1 maps the last page of a file from a squashfs, what follows the file's end is
// not zero, which clang relies on.
func (k Kernel) headers() string { return filepath.Join(k.dir, "headers") }

// unpackHeaders fills the folder of headers and links the module tree to it. Packages of
// other things are passed over.
func unpackHeaders(ctx context.Context, debs []string, dir string) error {
	for _, deb := range debs {
		if !isHeaders(deb) {
			continue
		}
		err := walkDeb(ctx, deb, func(h *tar.Header, r io.Reader) error {
			link, inModules := strings.CutPrefix(h.Name, "lib/modules/")
			source, inSource := strings.CutPrefix(h.Name, "usr/src/")
			switch {
			case inModules && h.Typeflag == tar.TypeSymlink:
				return os.Symlink(h.Linkname, filepath.Join(modulesIn(dir), link))
			case inSource && h.Typeflag == tar.TypeReg && wantHeader(source):
				return writeFile(filepath.Join(Kernel{dir: dir}.headers(), source), r)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isHeaders(deb string) bool { return strings.HasPrefix(filepath.Base(deb), "linux-headers-") }

// wantHeader leaves out what is only of use to build modules, which is most of it.
func wantHeader(name string) bool {
	_, below, _ := strings.Cut(name, "/")
	return hasAnyPrefix(below, []string{"include/", "arch/x86/include/"}) && !strings.HasPrefix(below, "include/dt-bindings/")
}
