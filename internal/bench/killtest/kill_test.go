package killtest

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
)

var (
	kills   = flag.Int("kills", 10, "how many recorders to kill")
	fulls   = flag.Int("fulls", 1, "how many disks to fill")
	longest = flag.Duration("longest", 3*time.Second, "kill at a random time up to this one after the hooks are attached")
	lose    = flag.Duration("lose", 3*time.Second, "how much before a kill may be missing; 1s on a machine that is not shared")
	behind  = flag.Duration("behind", 2*time.Second, "how much of what analyze sees stock readers may miss")
	seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random times")
)

var rates = rig.Rates{Datagrams: 8000, Rounds: 1500, Connects: 50}

// tally is the table over all kills.
type tally struct {
	n, opened, wrong, short int
	stock                   map[string]int
	rows, matched, lost     int64
	lags                    []time.Duration
	behind                  []time.Duration // what stock readers miss of the rows that analyze sees
	equal                   int             // views of stock readers that miss nothing
}

func needRoot(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("not root: left out: %s", what)
	}
}

func build(t *testing.T) string {
	t.Helper()
	bin, err := rig.Build(t.TempDir(), "cmd/netrec")
	must(t, err)
	return bin
}

func namespace(t *testing.T) *rig.Namespace {
	t.Helper()
	ns, err := rig.New()
	must(t, err)
	t.Cleanup(ns.Close)
	return ns
}

// TestKill holds the promise of a file after any crash: recorders are killed at random times
// under load; each file opens, no row of it is wrong, and at most a second is missing, or
// a few where the CPUs are shared with other tests.
func TestKill(t *testing.T) {
	needRoot(t, "recordings killed under load")
	bin, ns, readers := build(t), namespace(t), startStock(t)
	t.Logf("seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 1))
	sum := tally{stock: map[string]int{}}
	for i := range *kills {
		after := time.Duration(random.Int64N(int64(*longest)))
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.parquet", i))
		if wrong := sum.wrong; !killOne(t, &sum, bin, ns, readers, path, after) || sum.wrong > wrong {
			keep(t, path)
		}
		os.Remove(path)
	}
	sum.print(t, readers != nil)
}

// keep copies the file of a failed run to where it outlives the test.
func keep(t *testing.T, path string) {
	to, err := os.CreateTemp("", "netrec-kill-*.parquet")
	must(t, err)
	defer to.Close()
	b, err := os.ReadFile(path)
	must(t, err)
	_, err = to.Write(b)
	must(t, err)
	t.Logf("the recording is kept as %s", to.Name())
}

// killOne makes and checks one recording. It reports whether the recording opened.
func killOne(t *testing.T, sum *tally, bin string, ns *rig.Namespace, readers *stock, path string, after time.Duration) bool {
	t.Helper()
	rec, err := ns.Record(bin, path)
	must(t, err)
	load, err := ns.StartLoad(rates)
	must(t, err)
	time.Sleep(after)
	killed, _, err := rec.End(syscall.SIGKILL)
	must(t, err)
	sides, err := load.Stop()
	must(t, err)
	sum.n++
	if out, err := exec.Command(bin, "analyze", path).CombinedOutput(); err != nil {
		t.Errorf("killed after %s: netrec analyze: %v\n%s", after, err, out)
		return false
	}
	got, err := inspect(sides, path)
	if err != nil {
		t.Errorf("killed after %s: %v", after, err)
		return false
	}
	sum.opened++
	sum.rows += got.rows
	sum.matched += got.matched
	sum.lost += got.lost
	for _, w := range got.wrong {
		t.Errorf("killed after %s: %s", after, w)
	}
	for _, w := range got.unended {
		t.Logf("killed after %s: %s", after, w)
	}
	if len(got.wrong) > 0 {
		sum.wrong++
	}
	lag := got.lag(sides, killed)
	sum.lags = append(sum.lags, lag)
	if most := time.Duration(float64(*lose) * rig.Crowd()); lag > most {
		sum.short++
		t.Logf("killed after %s: the last %s are missing, at most %s may be with the others on this machine", after, lag, most.Round(time.Millisecond))
	}
	sum.readers(t, readers, path, got)
	return true
}

// lag is how long before the kill the oldest call without a row returned.
func (t *truth) lag(sides []*rig.Side, killed int64) time.Duration {
	var worst int64
	for _, s := range sides {
		if rest := s.Calls[t.at[s.Key]:]; len(rest) > 0 {
			worst = max(worst, killed-rest[0].After)
		}
	}
	return time.Duration(worst)
}

func (sum *tally) readers(t *testing.T, readers *stock, path string, got *truth) {
	t.Helper()
	if readers == nil {
		return
	}
	views, err := readers.open(path)
	must(t, err)
	var all int64
	for _, n := range got.sums {
		all += n
	}
	for name, v := range views {
		if v.Error != "" {
			t.Logf("%s: %s", name, v.Error)
			continue
		}
		sum.stock[name]++
		if v.Rows > all || v.Newest > got.meta.LastNS {
			t.Errorf("%s sees %d rows up to %d, analyze %d up to %d", name, v.Rows, v.Newest, all, got.meta.LastNS)
		}
		if v.Rows == all {
			sum.equal++
		}
		sum.behind = append(sum.behind, time.Duration(got.meta.LastNS-v.Newest))
	}
	if a, d := views["pyarrow"], views["duckdb"]; a.Error == "" && d.Error == "" && a != d {
		t.Errorf("pyarrow sees %+v, duckdb %+v", a, d)
	}
}

// late holds stock readers to what analyze sees. That the footer is as new as the commit does
// not depend on the machine: all but a recording in ten, killed between the two, have all rows.
func (sum *tally) late(t *testing.T) {
	t.Helper()
	if sum.equal*10 < len(sum.behind)*9 {
		t.Errorf("stock readers miss rows that analyze has in %d of %d views", len(sum.behind)-sum.equal, len(sum.behind))
	}
	if most := time.Duration(float64(*behind) * rig.Crowd()); len(sum.behind) > 0 && slices.Max(sum.behind) > most {
		t.Errorf("a stock reader misses %s more than analyze, at most %s may be with the others on this machine", slices.Max(sum.behind), most)
	}
}

// quantiles are median, 99th percentile and the longest.
func quantiles(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	slices.Sort(d)
	at := func(q float64) time.Duration { return d[int(math.Ceil(q*float64(len(d)-1)))].Round(time.Millisecond) }
	return fmt.Sprintf("%s, %s, %s", at(0.5), at(0.99), at(1))
}

// print is the result as a table, and what of it is a failure.
func (sum *tally) print(t *testing.T, stock bool) {
	fmt.Printf("\n| kill -9 under load | |\n|---|---|\n")
	fmt.Printf("| recordings killed | %d |\n| opened by analyze | %d |\n| with a wrong row | %d |\n", sum.n, sum.opened, sum.wrong)
	fmt.Printf("| rows checked, of them against a call in the load's log | %d, %d |\n| rows counted as lost | %d |\n",
		sum.rows, sum.matched, sum.lost)
	fmt.Printf("| missing before the kill: median, p99, max | %s |\n", quantiles(sum.lags))
	if stock {
		fmt.Printf("| opened by pyarrow, DuckDB as they lay | %d, %d |\n", sum.stock["pyarrow"], sum.stock["duckdb"])
		fmt.Printf("| of them with all rows that analyze has | %d of %d |\n", sum.equal, len(sum.behind))
		fmt.Printf("| missing beyond what analyze misses: median, p99, max | %s |\n", quantiles(sum.behind))
		sum.late(t)
	}
	if sum.short > 0 {
		t.Errorf("%d of %d recordings miss more than %s before the kill", sum.short, sum.n, *lose)
	}
	if sum.matched == 0 && *longest > time.Second {
		t.Error("no row has a call in the log: nothing was compared")
	}
	if sum.opened != sum.n {
		t.Errorf("%d of %d recordings do not open", sum.n-sum.opened, sum.n)
	}
	for _, name := range []string{"pyarrow", "duckdb"} {
		if stock && sum.stock[name]*100 < sum.n*99 {
			t.Errorf("%s opens %d of %d, want 99 %%", name, sum.stock[name], sum.n)
		}
	}
}
