package packaging

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"netrec/internal/bench/vmtest"
)

var (
	kernel   = flag.String("kernel", "", "Debian kernel to boot; empty for none")
	packages = flag.String("packages", "", "folder with the packages; empty builds them")
)

// fenced is a block of commands or of a unit's text.
var fenced = regexp.MustCompile("(?ms)^```(sh|ini)\n(.*?)^```$")

// step is a part of the guest's report and what must be in it, line by line, and what not.
type step struct {
	of     string // text of the block, or name of the part
	seen   []string
	unseen string
}

// steps are what follows the blocks of the page, in its order. Other blocks must only succeed.
var steps = []step{
	{of: "systemctl enable --now netrec", seen: []string{"is: enabled active", "said: netrec: without CAP_SYSLOG", "tcplife: "}},
	{of: "netrec analyze /var/lib/netrec tcplife", seen: []string{"curl"}},
	{of: "NETREC_OPTIONS"},
	{of: "systemctl restart netrec", seen: []string{"--profile=default --port=443", "tcplife: "}},
	{of: "more.conf", seen: []string{"perf_event_paranoid is", "tcplife: "}, unseen: "without CAP_SYSLOG"},
	{of: "perf_event_paranoid", seen: []string{"tcplife: ", "soconnect: "}, unseen: "perf_event_paranoid is"},
}

// ending is what follows the page: all units stopped and started again, the package removed.
var ending = []step{
	{of: "boot", seen: []string{"between: inactive", "is: enabled active", "tcplife: ", "result: success"}, unseen: "recorded in all: 0"},
	{of: "remove", seen: []string{"exit: 0", "kept: ", "exit: 0", "left: ."}, unseen: "kept: 0"},
}

// TestPage follows the page about the service literally.
func TestPage(t *testing.T) {
	if *kernel == "" {
		t.Skip("no kernel asked for: go test ./cmd/packaging -kernel 6.12 (or make service) boots it")
	}
	share := t.TempDir()
	bring(t, share)
	names := blocks(t, filepath.Join(share, "page"))
	res, err := vmtest.Run(t.Context(), vmtest.Config{Kernel: *kernel, System: true, Share: share,
		Command: []string{"sh", "guest.sh"}, Timeout: 20 * time.Minute})
	t.Logf("boot %v, page %v\n%s", res.Boot, res.Run, res.Output)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(res.Output), "\nstep: ") {
		name, text, _ := strings.Cut(part, "\n")
		said[name] = text
	}
	left := steps
	for _, name := range names {
		s := step{of: name, seen: []string{"exit: 0"}}
		text := read(t, filepath.Join(share, "page", name))
		if len(left) > 0 && strings.Contains(text, left[0].of) {
			s.seen, s.unseen, left = append(s.seen, left[0].seen...), left[0].unseen, left[1:]
		}
		s.judge(t, said[name])
	}
	for _, s := range left {
		t.Errorf("the page has no block with %q, or not in this order", s.of)
	}
	for _, s := range ending {
		s.judge(t, said[s.of])
	}
}

// judge compares a part of the report.
func (s step) judge(t *testing.T, report string) {
	t.Helper()
	for _, want := range s.seen {
		if !strings.Contains(report, want) {
			t.Errorf("%s: not seen: %q in\n%s", s.of, want, report)
		}
	}
	if s.unseen != "" && strings.Contains(report, s.unseen) {
		t.Errorf("%s: seen: %q in\n%s", s.of, s.unseen, report)
	}
}

// bring puts the package and the guest's script into a folder.
func bring(t *testing.T, share string) {
	t.Helper()
	dist := *packages
	if dist == "" {
		dist = filepath.Join(t.TempDir(), "dist")
		if out, err := exec.CommandContext(t.Context(), "./dist.sh", dist).CombinedOutput(); err != nil {
			t.Fatalf("building the packages: %v\n%s", err, out)
		}
	}
	debs, err := filepath.Glob(filepath.Join(dist, "netrec_*_amd64.deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("packages in %s: %v, %v, want one", dist, debs, err)
	}
	write(t, filepath.Join(share, filepath.Base(debs[0])), read(t, debs[0]))
	write(t, filepath.Join(share, "guest.sh"), read(t, "testdata/guest.sh"))
}

// blocks writes the page's blocks into a folder and gives their names.
func blocks(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, m := range fenced.FindAllStringSubmatch(read(t, "../../docs/service.md"), -1) {
		name := fmt.Sprintf("%02d.%s", i+1, m[1])
		write(t, filepath.Join(dir, name), m[2])
		names = append(names, name)
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
