package vmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tool is a program or file that the host must have, and the Debian package
// that brings it.
type Tool struct {
	Name    string
	Package string
}

// MissingError lists every tool that the host lacks, so that one look tells
// all there is to install.
type MissingError struct {
	Tools []Tool
}

// Error names the tools and gives the packages in the order of the tools.
func (e *MissingError) Error() string {
	names := make([]string, len(e.Tools))
	for i, t := range e.Tools {
		names[i] = fmt.Sprintf("%s (package %s)", t.Name, t.Package)
	}
	return "booting kernels: this machine lacks " + strings.Join(names, ", ")
}

// Packages gives the Debian packages to install, each once.
func (e *MissingError) Packages() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range e.Tools {
		if !seen[t.Package] {
			seen[t.Package] = true
			out = append(out, t.Package)
		}
	}
	return out
}

const archiveKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

var (
	bootTools  = []Tool{{"qemu-system-x86_64", "qemu-system-x86"}}
	fetchTools = []Tool{
		{"apt-get", "apt"},
		{"apt-cache", "apt"},
		{"apt-config", "apt"},
		{"dpkg-deb", "dpkg"},
		{"sqfstar", "squashfs-tools"},
		{"xz", "xz-utils"},
		{archiveKeyring, "debian-archive-keyring"},
	}
)

func checkTools(tools []Tool) error {
	var missing []Tool
	for _, t := range tools {
		if _, err := findTool(t.Name); err != nil {
			missing = append(missing, t)
		}
	}
	if missing != nil {
		return &MissingError{missing}
	}
	return nil
}

// findTool looks in PATH and then in the administrator's folders, which the
// PATH of an ordinary user does not have.
func findTool(name string) (string, error) {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return name, err
	}
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}
