package agree

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netrec/internal/bench/vmtest"
)

var (
	kernels = flag.String("kernels", "", "Debian kernels to boot, separated by commas; empty for none")
	bcc     = flag.String("bcc", "all", "tools of bcc to run, separated by commas, all, or none; each takes a minute")
	update  = flag.Bool("update", false, "write docs/agreement.md")
	outputs = flag.String("outputs", "", "folder that keeps the outputs of the guests; those that it has are judged again, and nothing is booted")
)

// attempts is how often a guest may run: the kernel keeps an event from a tracing program
// that interrupts another one on the same CPU. Only a tool that saw less than netrec gets
// another chance.
const attempts = 3

// TestAgreement runs the tools of others beside netrec, and compares.
func TestAgreement(t *testing.T) {
	if *kernels == "" {
		t.Skip("no kernels asked for: go test ./internal/bench/truth/agree -kernels 6.1,6.12 boots them")
	}
	if *update && *bcc != "all" {
		t.Fatal("-update writes the whole table: it needs -bcc all")
	}
	names := strings.Split(*kernels, ",")
	verdicts := make([][]verdict, len(names))
	t.Run("kernels", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				verdicts[i] = agreement(t, name)
			})
		}
	})
	all := map[string][]verdict{}
	for i, name := range names {
		all[name] = verdicts[i]
	}
	if *update && !t.Failed() {
		updateTable(t, all)
	} else {
		compareTable(t, all)
	}
}

// agreement is the verdicts of a kernel.
func agreement(t *testing.T, kernel string) []verdict {
	t.Helper()
	vs := map[string]verdict{}
	for _, guest := range guests(kernel) {
		maps.Copy(vs, together(t, kernel, guest))
	}
	var all []verdict
	for _, c := range slices.Concat(guests(kernel)...) {
		v := vs[c.id()]
		v.check(t)
		all = append(all, v)
	}
	return all
}

// together is the verdicts of comparisons in one guest.
func together(t *testing.T, kernel string, pending []Comparison) map[string]verdict {
	t.Helper()
	vs := map[string]verdict{}
	for n := 1; n <= attempts && len(pending) > 0; n++ {
		share, kept := folder(t, kernel, pending, n)
		build(t, share)
		if !kept {
			watch(t, kernel, share, pending)
		}
		var again []Comparison
		for _, c := range pending {
			v := judge(share, kernel, c)
			vs[c.id()] = v
			if v.missed && n < attempts && !kept {
				t.Logf("%s: once more, as it saw less:\n%s\n%s", c.Tool, strings.Join(v.differences, "\n"), misses(share))
				again = append(again, c)
			}
		}
		pending = again
	}
	return vs
}

// made lists the comparisons of a kernel.
func made(kernel string) []Comparison {
	return slices.DeleteFunc(slices.Concat(Tools, OneLiners, Bcc), func(c Comparison) bool { return !c.Runs(kernel) })
}

// guests are the comparisons of a kernel that are chosen, by the guest that they are made in.
func guests(kernel string) [][]Comparison {
	var quick, compiled []Comparison
	for _, c := range made(kernel) {
		switch {
		case !c.bcc():
			quick = append(quick, c)
		case *bcc == "all" || slices.Contains(strings.Split(*bcc, ","), strings.TrimSuffix(c.Name(), "-bpfcc")):
			compiled = append(compiled, c)
		}
	}
	return [][]Comparison{quick, compiled}
}

func folder(t *testing.T, kernel string, chosen []Comparison, attempt int) (share string, kept bool) {
	t.Helper()
	if *outputs == "" {
		return t.TempDir(), false
	}
	group := "tools"
	if chosen[0].bcc() {
		group = "bcc"
	}
	share = filepath.Join(*outputs, fmt.Sprintf("%s-%s-%d", kernel, group, attempt))
	if _, err := os.Stat(filepath.Join(share, "out")); err == nil {
		return share, true
	}
	if err := os.MkdirAll(share, 0o755); err != nil {
		t.Fatal(err)
	}
	return share, false
}

// build makes the recorder and analyzer, also anew for outputs that were kept.
func build(t *testing.T, share string) {
	t.Helper()
	build := exec.Command("go", "build", "-o", share+"/netrec", "netrec/cmd/netrec")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the recorder: %v\n%s", err, out)
	}
}

// watch runs recorder, chosen tools and traffic in a guest; their outputs are in share/out then.
func watch(t *testing.T, kernel, share string, chosen []Comparison) {
	t.Helper()
	if err := os.CopyFS(share, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if err := Plan(share, kernel, chosen); err != nil {
		t.Fatal(err)
	}
	// A bpftrace takes up to 200 MB while it compiles, and ten do so at once.
	config := vmtest.Config{Kernel: kernel, Share: share, Command: []string{"python3", "/host/guest.py"}, Timeout: 20 * time.Minute, MemoryMiB: 3072}
	if chosen[0].bcc() {
		config.Debian, config.Timeout = debianOf(kernel), 40*time.Minute
	}
	res, err := vmtest.Run(context.Background(), config)
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("guest: %v, exit code %d\n%s", err, res.ExitCode, res.Output)
	}
	t.Logf("kernel %s (%s), %s:\n%s", kernel, res.Kernel.Version, res.Total.Round(time.Second), res.Output)
}

// misses is what the kernel says it kept from each tool; kernels before 6.7 count it only
// for some kinds of program.
func misses(share string) []byte {
	b, _ := os.ReadFile(filepath.Join(share, "out", "misses.txt"))
	return b
}

// judge compares what a tool counted with netrec's answer from the recording.
func judge(share, kernel string, c Comparison) verdict {
	v := verdict{kernel: kernel, Comparison: c}
	out, err := c.output(share)
	if err != nil {
		return v.failed(err)
	}
	if c.Broken != "" {
		v.broken = strings.Contains(string(out), c.Broken)
		return v
	}
	theirs, err := c.theirs(share, out)
	if err != nil {
		return v.failed(fmt.Errorf("%w\n%s", err, complaints(out)))
	}
	ours, err := c.ours(share)
	if err != nil {
		return v.failed(err)
	}
	v.there, v.here = theirs.Total(), ours.Total()
	v.differences, v.missed = Differences(theirs, ours)
	v.missed = v.missed && len(v.differences) > 0 && c.Known == ""
	return v
}

// complaints are the beginning of what a tool printed besides results.
func complaints(out []byte) (text string) {
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "{") && len(text) < 2000 {
			text += line
		}
	}
	return text
}

// output is what the tool printed; that of all scripts for one-liners.
func (c Comparison) output(share string) ([]byte, error) {
	pattern := "one-liners-*.txt"
	if c.Command != nil {
		pattern = c.Name() + ".txt"
	}
	files, err := filepath.Glob(filepath.Join(share, "out", pattern))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no output %s", pattern)
	}
	var all []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	return all, nil
}

// ours is netrec's answer from the recording.
func (c Comparison) ours(share string) (Counts, error) {
	args := append([]string{"analyze", share + "/out/cap.parquet"}, strings.Fields(c.Ours)...)
	cmd := exec.Command(share+"/netrec", append(args, "-f", "json")...)
	var side bytes.Buffer
	cmd.Stderr = &side
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("netrec analyze %s: %w\n%s", c.Ours, err, side.Bytes())
	}
	rows, err := Answer(out, c.Table)
	if err != nil {
		return nil, err
	}
	return rows.Tally(c.Fields, c.Where, c.Count)
}

// theirs is what the tool counted, with our names in its keys.
func (c Comparison) theirs(share string, out []byte) (Counts, error) {
	rows, err := c.rows(out)
	if err != nil {
		return nil, err
	}
	names := c.Names
	if c.NamesFile != "" {
		format, err := os.ReadFile(filepath.Join(share, "out", c.NamesFile))
		if err != nil {
			return nil, err
		}
		names = Symbols(format)
	}
	for _, r := range rows {
		words := strings.Fields(r["key"])
		for i, w := range words {
			if n, ok := names[w]; ok {
				words[i] = n
			}
		}
		if len(words) > 0 {
			r["key"] = strings.Join(words, " ")
		}
	}
	fields := c.Theirs
	if c.Map != "" && len(rows) > 0 {
		for _, f := range []string{"key", "low"} {
			if _, ok := rows[0][f]; ok {
				fields = append(fields, f)
			}
		}
	}
	return rows.Tally(fields, c.Only, "")
}

// rows reads the output of the tool, whatever its form.
func (c Comparison) rows(out []byte) (Rows, error) {
	script := c.Map != "" || strings.HasSuffix(c.Command[0], ".bt")
	var maps map[string]Rows
	if script {
		var err error
		if maps, out, err = Bpftrace(out); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Map != "":
		if maps[c.Map] == nil {
			return nil, fmt.Errorf("no map @%s", c.Map)
		}
		return maps[c.Map], nil
	case slices.Contains(c.Theirs, "key"):
		return Histograms(out)
	}
	return Lines(out, c.Theirs)
}
