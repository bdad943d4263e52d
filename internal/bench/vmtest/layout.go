package vmtest

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// imageDropped are trees that no guest reads; they are a third of the image.
var imageDropped = []string{
	"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/", "usr/share/lintian/",
	"usr/share/bug/", "usr/include/", "usr/lib/x86_64-linux-gnu/perl/", "usr/share/perl/", "usr/share/zoneinfo/",
}

// imageDirs are folders that packages expect and do not bring.
var imageDirs = []string{
	"dev", "etc", "home", "host", "mnt", "proc", "root", "run", "run/vmtest", "sys", "tmp", "usr",
	"usr/bin", "usr/lib", "usr/lib64", "usr/lib/modules", "usr/sbin", "usr/src", "var", "var/lib", "var/lib/misc",
	"var/log", "var/tmp",
}

// imageLinks are symbolic links, name and target in turn. The first four make
// the merged /usr that imageDirs and the writer assume; the shell's
// is made by a maintainer script on an installed system.
var imageLinks = [][2]string{
	{"bin", "usr/bin"},
	{"sbin", "usr/sbin"},
	{"lib", "usr/lib"},
	{"lib64", "usr/lib64"},
	{"etc/mtab", "../proc/self/mounts"},
	{"var/run", "../run"},
	{"usr/bin/sh", "dash"},
}

// imageFiles are the files that maintainer scripts or an administrator would
// have written. Name lookups go to the files and then to the resolver on
// loopback, so that tests own the answers.
var imageFiles = [][2]string{
	{"etc/passwd", "root:x:0:0:root:/root:/bin/sh\ndnsmasq:x:100:65534::/var/lib/misc:/bin/false\n" +
		"user:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n"},
	{"etc/group", "root:x:0:\ndip:x:30:\nuser:x:1000:\nnogroup:x:65534:\n"},
	{"etc/shadow", "root:*:19000:0:99999:7:::\n"},
	{"etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"},
	{"etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nnetworks: files\n" +
		"protocols: files\nservices: files\n"},
	{"etc/ld.so.conf", "/usr/local/lib\n/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n"},
	{"etc/gai.conf", ""},
}

// layout writes everything that is in no package, before the packages.
func (w *rootWriter) layout(r recipe) error {
	for _, d := range r.dirs {
		mode := int64(0o755)
		if strings.HasSuffix(d, "tmp") {
			mode = 0o1777
		}
		if err := w.put(&tar.Header{Name: d + "/", Typeflag: tar.TypeDir, Mode: mode}, ""); err != nil {
			return err
		}
	}
	for _, l := range r.links {
		if err := w.put(&tar.Header{Name: l[0], Typeflag: tar.TypeSymlink, Linkname: l[1], Mode: 0o777}, ""); err != nil {
			return err
		}
	}
	for _, f := range r.files {
		h := &tar.Header{Name: f[0], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[1]))}
		if err := w.put(h, f[1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *rootWriter) put(h *tar.Header, text string) error {
	name := strings.TrimSuffix(h.Name, "/")
	if w.seen[name] {
		return fmt.Errorf("%s is laid out twice", name)
	}
	w.seen[name] = true
	h.ModTime = time.Unix(0, 0)
	if err := w.tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.WriteString(w.tw, text)
	return err
}

// applets makes busybox stand in for every usual command that no package
// brought. It comes last, so that the real programs win.
func (w *rootWriter) applets(ctx context.Context) error {
	busybox := filepath.Join(w.tools, "busybox")
	list, err := runCommand(exec.CommandContext(ctx, busybox, "--list"))
	if err != nil {
		return fmt.Errorf("listing busybox applets: %w", err)
	}
	for _, name := range strings.Fields(string(list)) {
		if w.seen["usr/bin/"+name] || w.seen["usr/sbin/"+name] {
			continue
		}
		h := &tar.Header{Name: "usr/bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}
		if err := w.put(h, ""); err != nil {
			return err
		}
	}
	return nil
}
