package vmtest

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// walkDeb calls fn for every entry of a package's file tree, in the package's
// order. Names come clean, without a leading slash, and never leave the tree.
func walkDeb(ctx context.Context, deb string, fn func(h *tar.Header, r io.Reader) error) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(deb), err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(deb), err)
	}
	walkErr := walkTar(out, fn)
	// The rest is padding; a writer that still has some must not see a broken pipe.
	if walkErr == nil {
		_, walkErr = io.Copy(io.Discard, out)
	} else {
		out.Close()
	}
	if err := errors.Join(walkErr, cmd.Wait()); err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(deb), err)
	}
	return nil
}

func walkTar(r io.Reader, fn func(h *tar.Header, r io.Reader) error) error {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		h.Name = cleanName(h.Name)
		if h.Typeflag == tar.TypeLink {
			h.Linkname = cleanName(h.Linkname)
		}
		if h.Name == "" {
			continue
		}
		if err := fn(h, tr); err != nil {
			return err
		}
	}
}

// cleanName makes a tar name relative to the tree's root and confined to it.
func cleanName(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}
