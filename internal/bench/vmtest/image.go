package vmtest

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// DefaultDebian is the release whose programs a guest has when nobody says otherwise.
const DefaultDebian = "bookworm"

// imageSuites are where a release's programs come from.
func imageSuites(debian string) []string { return []string{debian, debian + "-security"} }

// recipe is what a root image is made of, beside what all have.
type recipe struct {
	packages []string
	dirs     []string
	links    [][2]string
	files    [][2]string
}

// commandRoot is the root of a guest that only runs a command.
var commandRoot = recipe{imagePackages, imageDirs, imageLinks, imageFiles}

// imagePackages are the guest's programs: what drives traffic, what shapes it,
// and independent witnesses of what happened.
var imagePackages = []string{
	"bpfcc-tools", "busybox-static", "bpftrace", "curl", "dash", "dnsmasq-base", "ethtool", "iperf3", "iproute2",
	"iputils-ping", "iw", "kmod", "libbpf-tools", "libc-bin", "musl", "ncat", "python3", "socat", "strace", "tcpdump",
}

// image is the guest's read-only root.
type image struct {
	dir string
}

func (img image) squashfs() string { return filepath.Join(img.dir, "root.squashfs") }
func (img image) busybox() string  { return filepath.Join(img.dir, "tools", "busybox") }

// prepareImage gives a root image, from the cache or built from a release's packages.
func prepareImage(ctx context.Context, cache, debian string, r recipe) (image, error) {
	suites := imageSuites(debian)
	dir, err := build(ctx, cache, "image-"+r.key(suites), func(dir string) error {
		return r.build(ctx, suites, dir)
	})
	return image{dir}, err
}

// key changes with everything that decides what is in the image.
func (r recipe) key(suites []string) string {
	h := sha256.New()
	fmt.Fprintln(h, cacheFormat, suites, r.packages, imageDropped, r.dirs, r.links, r.files)
	return hex.EncodeToString(h.Sum(nil))[:12]
}

func (r recipe) build(ctx context.Context, suites []string, dir string) error {
	if err := checkTools(fetchTools); err != nil {
		return err
	}
	work := filepath.Join(dir, "apt")
	apt, err := newAptRoot(ctx, work, suites...)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	debs, err := apt.downloadAll(ctx, r.packages...)
	if err != nil {
		return err
	}
	return r.pack(ctx, debs, dir)
}

// pack streams the packages' trees into one uncompressed squashfs.
// Maintainer scripts do not run; what they would have made is in layout.go.
func (r recipe) pack(ctx context.Context, debs []string, dir string) error {
	img := image{dir}
	// Uncompressed: the emulated guest unpacks more slowly than the host reads.
	cmd := exec.CommandContext(ctx, "sqfstar", "-noI", "-noD", "-noF", "-noX", "-quiet", "-no-progress", img.squashfs())
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		err := r.write(ctx, debs, in, filepath.Join(dir, "tools"))
		in.Close()
		written <- err
	}()
	_, runErr := runCommand(cmd)
	if err := <-written; err != nil {
		return fmt.Errorf("packing the root image: %w", err)
	}
	return runErr
}

// rootWriter merges packages into one tar stream and copies the few programs
// that the host itself needs from them into a folder.
type rootWriter struct {
	tw    *tar.Writer
	tools string
	seen  map[string]bool
}

func (r recipe) write(ctx context.Context, debs []string, out io.Writer, tools string) error {
	if err := os.MkdirAll(tools, 0o755); err != nil {
		return err
	}
	w := &rootWriter{tar.NewWriter(out), tools, map[string]bool{}}
	if err := w.layout(r); err != nil {
		return err
	}
	for _, deb := range debs {
		if err := walkDeb(ctx, deb, w.add); err != nil {
			return err
		}
	}
	if err := w.applets(ctx); err != nil {
		return err
	}
	return w.tw.Close()
}

// add passes one entry on, with /bin, /sbin and /lib merged into /usr as on an
// installed system.
func (w *rootWriter) add(h *tar.Header, r io.Reader) error {
	h.Name = mergeUsr(h.Name)
	if h.Typeflag == tar.TypeLink {
		h.Linkname = mergeUsr(h.Linkname)
	}
	if w.seen[h.Name] || hasAnyPrefix(h.Name+"/", imageDropped) {
		return nil
	}
	w.seen[h.Name] = true
	// A plain header: the packer misreads the times that some formats put where
	// others have the start of a long name.
	h.Format, h.PAXRecords = tar.FormatUnknown, nil
	h.ModTime = h.ModTime.Truncate(time.Second)
	h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
	if tool := toolName(h.Name); tool != "" {
		return w.addTool(h, r, tool)
	}
	if err := w.tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(w.tw, r)
	return err
}

// addTool writes an entry to the stream and to the tools folder.
func (w *rootWriter) addTool(h *tar.Header, r io.Reader, tool string) error {
	if err := w.tw.WriteHeader(h); err != nil {
		return err
	}
	dst := filepath.Join(w.tools, tool)
	if h.Typeflag == tar.TypeSymlink {
		return os.Symlink(path.Base(h.Linkname), dst)
	}
	if err := writeFile(dst, io.TeeReader(r, w.tw)); err != nil {
		return err
	}
	return os.Chmod(dst, 0o755)
}

// toolName says under which name an entry is kept for the host: busybox for the
// initramfs, kmod with its loader and libraries for depmod.
func toolName(name string) string {
	dir, base := path.Split(name)
	switch dir {
	case "usr/bin/":
		if base == "busybox" || base == "kmod" {
			return base
		}
	case "usr/lib/x86_64-linux-gnu/":
		if hasAnyPrefix(base, []string{"ld-linux-x86-64.so.", "libc.so.", "libzstd.so.", "liblzma.so.", "libcrypto.so."}) {
			return base
		}
	}
	return ""
}

// mergeUsr moves the top-level program and library folders below usr.
func mergeUsr(name string) string {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "bin", "sbin", "lib", "lib64":
		return "usr/" + name
	}
	return name
}
