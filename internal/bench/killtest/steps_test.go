package killtest

import (
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netrec/internal/bench/rig"
)

// steps are the system calls by which a file comes to be and grows.
var steps = []string{"pwrite64", "fallocate", "ftruncate", "fdatasync", "fsync", "flock", "renameat2", "unlinkat"}

// TestKillSteps kills recorders right before a step of a commit: the first, the second … to the last of
// the closing of the file. What is left opens everywhere, has no wrong row, and misses a second at most.
func TestKillSteps(t *testing.T) {
	needRoot(t, "recordings killed at every step of a commit")
	bin, ns, readers := build(t), namespace(t), startStock(t)
	for name, args := range map[string][]string{"one file": nil, "rotating": rotating} {
		t.Run(name, func(t *testing.T) {
			sum := &tally{stock: map[string]int{}}
			before := 0
			at := func(step int64) (killed bool) {
				r, killed := killStep(t, bin, ns, step, args)
				if killed && !r.begun {
					before++
					r.unbegun(t, bin, step)
				} else if killed {
					r.left(t, sum, readers, step)
				}
				return killed
			}
			if *points == 0 {
				for step := int64(1); at(step); step++ {
				}
			} else {
				const some = 25 // of a recording of a second, or a few more
				for i := range 4 * *points {
					at(int64(1 + some*i/(4**points)))
				}
			}
			fmt.Printf("\n| kill at a step, %s | |\n|---|---|\n| before the first event, nothing to open | %d |\n", name, before)
			sum.print(t, readers != nil)
		})
	}
}

// killStep makes a recording that is killed at a step, if it comes to it.
func killStep(t *testing.T, bin string, ns *rig.Namespace, step int64, args []string) (*run, bool) {
	t.Helper()
	var done, when atomic.Int64
	r := judged(t, bin, ns, func(rig.Syscall) (a rig.Answer) {
		if done.Add(1) == step {
			when.Store(rig.Now())
			a.Kill = true
		}
		return a
	}, steps, args)
	r.killed = when.Load()
	return r, r.killed != 0
}

// unbegun checks what a recorder left that was killed on its way to the first event: analyze says what
// that is.
func (r *run) unbegun(t *testing.T, bin string, step int64) {
	t.Helper()
	for _, path := range r.files(t) {
		cmd := exec.Command(bin, "analyze", path)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code < 0 || code > 5 || strings.Contains(string(out), "panic") {
			t.Errorf("killed at step %d: netrec analyze: %v\n%s", step, err, out)
		}
	}
}

// left checks the recording that a killed recorder left.
func (r *run) left(t *testing.T, sum *tally, readers *stock, step int64) {
	t.Helper()
	sum.n++
	paths := r.files(t)
	got, err := inspect(r.sides, paths...)
	if err != nil {
		t.Errorf("killed at step %d: %v", step, err)
		for _, p := range paths {
			keep(t, p)
		}
		return
	}
	sum.opened++
	sum.rows, sum.matched, sum.lost = sum.rows+got.rows, sum.matched+got.matched, sum.lost+got.lost
	for _, w := range got.wrong {
		t.Errorf("killed at step %d: %s", step, w)
	}
	for _, w := range got.unended {
		t.Logf("killed at step %d: %s", step, w)
	}
	if len(got.wrong) > 0 {
		sum.wrong++
	}
	lag := got.lag(r.sides, r.killed)
	sum.lags = append(sum.lags, lag)
	if most := time.Duration(float64(*lose) * rig.Crowd()); lag > most {
		sum.short++
		t.Logf("killed at step %d: the last %s are missing, at most %s may be with the others on this machine", step, lag, most.Round(time.Millisecond))
	}
	if len(paths) == 1 {
		sum.readers(t, readers, paths[0], got)
		return
	}
	for _, path := range paths {
		opened(t, readers, path)
	}
	if readers != nil {
		sum.stock["pyarrow"]++
		sum.stock["duckdb"]++
	}
}
