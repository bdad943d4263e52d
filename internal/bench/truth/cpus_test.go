package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
)

// A CPU that comes online during the recording is sampled from then on if the recorder
// still may, and where it may not, the answer says so and is not exact.
func TestNewCPU(t *testing.T) {
	const online, paranoid = "/sys/devices/system/cpu/cpu1/online", "/proc/sys/kernel/perf_event_paranoid"
	if os.Getenv(guestEnv) == "" {
		t.Skip("CPUs are taken offline in guests only: not checked: CPUs that come online")
	}
	tools := needTools(t, "CPUs that come online")
	set := func(path, v string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(v), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(paranoid)
	if err != nil {
		t.Fatal(err)
	}
	defer set(online, "1")
	defer set(paranoid, strings.TrimSpace(string(was)))
	for _, tt := range []struct {
		name, paranoid, want string
		sampled              bool
	}{
		{"not allowed", "2", "cpu_sample not recorded on CPU 1, which appeared at ", false},
		{"allowed", "-1", "cpu_sample recorded on CPU 1 only since ", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set(paranoid, tt.paranoid)
			set(online, "0")
			capture := filepath.Join(t.TempDir(), "cpus.parquet")
			rec, err := rig.Record(tools+"/netrec", capture, "-e", "cpu_sample", "-t", longest)
			if err != nil {
				t.Fatal(err)
			}
			set(online, "1")
			busy := exec.Command("sh", "-c", "while :; do :; done & while :; do :; done")
			busy.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := busy.Start(); err != nil {
				t.Fatal(err)
			}
			untilLate(t, capture)
			_ = syscall.Kill(-busy.Process.Pid, syscall.SIGKILL)
			_ = busy.Wait()
			if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
				t.Fatalf("exit code %d, %v\n%s", code, err, rec.Said())
			}
			c, err := Load(capture)
			if err != nil {
				t.Fatal(err)
			}
			rows := c.Select("cpu_sample", Num("cpu", 1))
			if (len(rows) > 0) != tt.sampled || len(c.Meta.Recording.Late) != 1 || (c.Meta.Recording.Late[0].Why == "") != tt.sampled {
				t.Errorf("%d samples of CPU 1, late %+v", len(rows), c.Meta.Recording.Late)
			}
			out, err := exec.Command(tools+"/netrec", "analyze", capture, "profile").CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "exact") {
				t.Errorf("profile says %v:\n%.300s", err, out)
			}
		})
	}
}

// untilLate waits until the recording tells of a newcomer, and for samples after that.
func untilLate(t *testing.T, capture string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		c, err := Load(capture)
		if err != nil {
			continue // not its first commit yet
		}
		late := c.Select("meta", Is("key", "netrec.late"))
		if len(late) > 0 && c.Meta.LastNS-c.Meta.Clock[0].Wall+c.Meta.Clock[0].Mono > late[0].TS+int64(2*time.Second) {
			return
		}
	}
	t.Fatal("the recording does not tell of the CPU")
}
