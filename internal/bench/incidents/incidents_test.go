package incidents

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
	"netrec/internal/bench/vmtest"
)

var (
	which   = flag.String("incidents", "", "names of incidents and healthy loads, separated by commas, or all")
	kernels = flag.String("kernels", "", "Debian kernels to boot and play the incidents in, separated by commas")
	keep    = flag.String("keep", "", "directory that recordings are kept in")
)

// TestMain is the server of an incident where that asks for it.
func TestMain(m *testing.M) {
	if os.Getenv(cramped) != "" {
		crampedServer()
	}
	os.Exit(m.Run())
}

// few are run by default, with the rest of the tests: one of the network, one
// healthy load.
var few = []string{"loss-short", "keep-alive"}

// missed is how many of all incidents may not be named first and rightly.
const missed = 2

// TestIncidents: the first finding names the cause of an incident, and a healthy load has none.
func TestIncidents(t *testing.T) {
	if *kernels != "" {
		t.Skip("left out: played in guests")
	}
	if os.Getuid() != 0 {
		t.Skip("left out: recordings need root")
	}
	names := few
	if *which != "" && *which != "all" {
		names = strings.Split(*which, ",")
	}
	bin := recorder(t)
	var table []string
	right := 0
	for _, in := range slices.Concat(All, Healthy) {
		if *which != "all" && !slices.Contains(names, in.Name) {
			continue
		}
		t.Run(in.Name, func(t *testing.T) {
			v := play(t, bin, &in)
			ok := in.named(v)
			if ok && len(in.Want) > 0 {
				right++
			}
			table = append(table, fmt.Sprintf("%-18s %-5v %s", in.Name, ok, v.first()))
			t.Log(table[len(table)-1]) // what a guest that is too slow has done is seen
			if !ok {
				t.Log(v.String())
			}
			if len(v) > 0 {
				follow(t, bin, v[0].Next)
			}
			if !ok && (*which != "all" || len(in.Want) == 0) {
				t.Errorf("%s: want %s first (%s)\n%s", in.Cause, strings.Join(in.Want, " or "), in.Says, v)
			}
		})
	}
	t.Logf("%d of %d incidents named first and rightly\n%s", right, len(All), strings.Join(table, "\n"))
	if *which == "all" && right < len(All)-missed {
		t.Errorf("%d of %d incidents named first and rightly, want all but %d", right, len(All), missed)
	}
}

// follow runs the command that a finding says comes next: it must show something.
func follow(t *testing.T, bin, next string) {
	command, ok := strings.CutPrefix(next, "netrec ")
	out, err := exec.Command("sh", "-c", bin+" "+command).Output()
	shown := slices.ContainsFunc(strings.Split(string(out), "\n"), func(line string) bool { return line != "" && line[0] != '#' })
	if !ok || err != nil || !shown {
		t.Errorf("%s: %v\n%s", next, err, out)
	}
}

// TestClock: a finding about a healthy load is right where that load's own clock says the same, and only there.
func TestClock(t *testing.T) {
	s := &stage{clock: map[string][]time.Duration{}}
	for range 27 {
		s.took("slow-answers", time.Millisecond)
	}
	s.took("slow-answers", time.Second, time.Second)
	two := s.confirms("slow-answers")
	s.took("slow-answers", time.Second)
	if three := s.confirms("slow-answers"); two || !three || s.confirms("slow-connects") || s.confirms("loss") {
		t.Errorf("two slow answers of 29 are %v, three of 30 %v", two, three)
	}
}

// recorder is the program, built here or outside of the guest.
func recorder(t *testing.T) string {
	if os.Getenv(rig.GuestEnv) != "" {
		_ = exec.Command("modprobe", "-a", "tun", "sch_tbf").Run() // this kernel may have them built in
		return "/host/netrec"
	}
	bin, err := rig.Build(t.TempDir(), "cmd/netrec")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// TestKernels plays the incidents in guests.
func TestKernels(t *testing.T) {
	if *kernels == "" {
		t.Skip("no kernels asked for: make incidents K=6.12 boots one")
	}
	dir, args := t.TempDir(), []string{"/host/incidents.test", "-test.v", "-test.run", "^TestIncidents$", "-incidents", *which}
	if *documented {
		args = append(args, "-documented")
	}
	if *keep != "" {
		dir, args = *keep, append(args, "-keep", "/host")
	}
	for _, args := range [][]string{{"build", "-o", dir + "/netrec", "netrec/cmd/netrec"}, {"test", "-c", "-o", dir + "/incidents.test", "netrec/internal/bench/incidents"}} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for name := range strings.SplitSeq(*kernels, ",") {
		t.Run(name, func(t *testing.T) {
			res, err := vmtest.Run(context.Background(), vmtest.Config{Kernel: name, Share: dir, Env: []string{rig.GuestEnv + "=" + name},
				Command: args, Timeout: 120 * time.Minute, MemoryMiB: 2048, Output: os.Stderr})
			if err != nil || res.ExitCode != 0 {
				t.Errorf("%v, exit code %d:\n%s", err, res.ExitCode, res.Output)
			}
		})
	}
}

// named reports whether the verdict says what it must.
func (in *Incident) named(v verdict) bool {
	if len(in.Want) == 0 {
		return len(v) == 0
	}
	if len(v) == 0 {
		return false
	}
	return slices.Contains(in.Want, v[0].Rule) && strings.Contains(v[0].What+v[0].Evidence, in.Says) || *documented && slices.Contains(in.Both, v[0].Rule)
}

// verdict is the findings of a recording, the worst first.
type verdict []finding

type finding struct{ Level, Rule, What, Evidence, Next string }

func (v verdict) first() string {
	if len(v) == 0 {
		return "nothing looks wrong"
	}
	return v[0].Rule + ": " + v[0].What
}

func (v verdict) String() string {
	var b strings.Builder
	for _, f := range v {
		fmt.Fprintf(&b, "  %s %s: %s\n    %s\n", f.Level, f.Rule, f.What, f.Evidence)
	}
	return b.String()
}

// play records an incident and asks for findings. On a machine that is too slow for a healthy load, findings are left out
// that the load's own clock confirms.
func play(t *testing.T, bin string, in *Incident) verdict {
	dir := t.TempDir()
	s, err := newStage(dir, in.path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	file := filepath.Join(dir, in.Name+".parquet")
	if *keep != "" {
		file = filepath.Join(*keep, in.Name+".parquet")
		_ = os.Remove(file)
	}
	run := func() error { return in.run(s) }
	if *documented {
		err = recordAsDocumented(t, bin, file, run)
	} else {
		err = record(s, bin, file, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	v := judged(t, bin, file)
	if len(in.Want) > 0 {
		return v
	}
	return slices.DeleteFunc(v, func(f finding) bool {
		right := s.confirms(f.Rule)
		if right {
			t.Logf("this machine is too slow for a healthy load, and a finding says so: %s", f.What)
		}
		return right
	})
}

// record runs an incident while its host is recorded, and only that.
func record(s *stage, bin, file string, run func() error) error {
	rec, err := s.here.Record(bin, file)
	if err != nil {
		return err
	}
	ran := run()
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		return fmt.Errorf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	return ran
}

func judged(t *testing.T, bin, file string) verdict {
	out, err := exec.Command(bin, "analyze", file, "findings", "--format", "json").Output()
	if err != nil {
		t.Fatalf("findings: %v", err)
	}
	var answers struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows verdict
			}
		}
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("findings: %v\n%s", err, out)
	}
	for _, tab := range answers.Answers[0].Tables {
		if tab.Name == "findings" {
			return tab.Rows
		}
	}
	return nil
}
