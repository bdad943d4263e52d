package vmtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// aptRoot is a private apt: own sources, lists and (empty) package database.
// It reads nothing of the host's apt but proxy settings and archive addresses,
// and writes only below dir.
type aptRoot struct {
	dir string
}

// fetchTries bounds how often an apt command that talks to the network runs;
// apt itself retries single files on top.
const fetchTries = 4

// newAptRoot makes a private apt for the suites in dir and updates its lists.
func newAptRoot(ctx context.Context, dir string, suites ...string) (*aptRoot, error) {
	a, err := hostArchive("/etc/apt")
	if err != nil {
		return nil, err
	}
	for _, d := range []string{"etc/preferences.d", "parts", "lists/partial", "archives/partial", "log"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, fmt.Errorf("creating a private apt: %w", err)
		}
	}
	var sources strings.Builder
	for _, s := range suites {
		sources.WriteString(a.line(s))
	}
	files := map[string]string{
		"status":           "",
		"etc/sources.list": sources.String(),
		"apt.conf":         aptConf(dir) + hostProxies(ctx),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("creating a private apt: %w", err)
		}
	}
	r := &aptRoot{dir}
	if _, err := r.network(ctx, "apt-get", "update", "--error-on=any"); err != nil {
		return nil, fmt.Errorf("updating lists of %s: %w", strings.Join(suites, ", "), err)
	}
	return r, nil
}

// aptConf cuts apt off from the host: with Parts and Main pointed elsewhere in
// the file of APT_CONFIG, which apt reads first, no hook of the host can run.
// Some suites are past their Valid-Until; their signatures are still checked.
func aptConf(dir string) string {
	return fmt.Sprintf(`Dir %[1]q;
Dir::Etc %[2]q;
Dir::Etc::Parts %[3]q;
Dir::Etc::Main "none";
Dir::Etc::SourceParts "none";
Dir::Etc::TrustedParts "none";
Dir::State %[1]q;
Dir::State::status %[4]q;
Dir::State::lists "lists";
Dir::Cache %[1]q;
Dir::Cache::archives "archives";
Dir::Log "log";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "5";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Dpkg::Use-Pty "false";
`, dir, filepath.Join(dir, "etc"), filepath.Join(dir, "parts"), filepath.Join(dir, "status"))
}

// hostProxies copies the host's proxy settings, without which a machine behind
// a proxy reaches no archive. No answer means no proxies.
func hostProxies(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "apt-config", "dump", "Acquire").Output()
	if err != nil {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.Contains(strings.ToLower(line), "proxy") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// run runs one apt program and gives its standard output.
func (r *aptRoot) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "APT_CONFIG="+filepath.Join(r.dir, "apt.conf"), "LC_ALL=C")
	cmd.Dir = filepath.Join(r.dir, "archives")
	return runCommand(cmd)
}

// network is run, tried again after a growing pause.
func (r *aptRoot) network(ctx context.Context, name string, args ...string) (out []byte, err error) {
	for try := range fetchTries {
		if out, err = r.run(ctx, name, args...); err == nil {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Duration(1<<try) * time.Second):
		}
	}
	return nil, err
}

// download fetches exactly the named packages and gives their files.
func (r *aptRoot) download(ctx context.Context, packages ...string) ([]string, error) {
	args := append([]string{"download", "-q"}, packages...)
	if _, err := r.network(ctx, "apt-get", args...); err != nil {
		return nil, fmt.Errorf("downloading %s: %w", strings.Join(packages, ", "), err)
	}
	return r.files()
}

// downloadAll fetches the named packages and everything they depend on.
func (r *aptRoot) downloadAll(ctx context.Context, packages ...string) ([]string, error) {
	args := append([]string{"install", "-q", "-y", "--download-only"}, packages...)
	if _, err := r.network(ctx, "apt-get", args...); err != nil {
		return nil, fmt.Errorf("downloading %d packages and what they need: %w", len(packages), err)
	}
	return r.files()
}

func (r *aptRoot) files() ([]string, error) {
	return filepath.Glob(filepath.Join(r.dir, "archives", "*.deb"))
}

// runCommand runs cmd and puts the last of its standard error into the error.
func runCommand(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running %s: %w: %s", filepath.Base(cmd.Path), err, tail(stderr.Bytes(), 800))
	}
	return stdout.Bytes(), nil
}

// tail gives at most the last n bytes of b.
func tail(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
	}
	return strings.TrimSpace(string(b))
}
