package killtest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

func init() { rig.InitWatch() } // does not return in a process that is to be watched

var (
	first  = flag.Int("first", 1, "the first call of each kind at which a fault comes, with -points 0")
	points = flag.Int("points", 1, "at how many system calls of each kind a fault comes, at random; 0: at every one")
	only   = flag.String("fault", "", "only faults of these kinds of system calls")
)

// fault is an error that the kernel gives instead of doing a system call.
type fault struct {
	kind  string
	errno unix.Errno
	args  []string
}

// rotating makes more than one file, by a helper.
var rotating = []string{"-G", "1"}

var faults = []fault{
	{"pwrite64", unix.EIO, nil}, {"pwrite64", unix.ENOSPC, rotating}, {"pwrite64", unix.EINTR, nil}, {"pread64", unix.EIO, rotating},
	{"fdatasync", unix.EIO, nil}, {"fdatasync", unix.EINTR, nil}, {"fsync", unix.EIO, nil},
	{"fallocate", unix.ENOSPC, nil}, {"fallocate", unix.EIO, rotating}, {"ftruncate", unix.EIO, rotating},
	{"renameat2", unix.EIO, rotating}, {"renameat2", unix.ENOSPC, rotating}, {"flock", unix.ENOLCK, nil}, {"flock", unix.ENOLCK, rotating},
	{"write", unix.EIO, rotating}, {"fstat", unix.EIO, nil}, {"openat", unix.EMFILE, rotating}, {"openat", unix.EIO, nil},
	{"mmap", unix.ENOMEM, nil}, {"clock_gettime", unix.EINVAL, nil}, {"bpf", unix.ENOMEM, nil},
}

// probe records what the load does and nothing else, so that a recording takes a second.
var probe = []string{"-e", "sock_io,tcp_state,sys_connect,sys_accept,sys_close", "--proto", "tcp,udp"}

// kinds are the system calls of the faults.
func kinds() (list []string) {
	for _, f := range faults {
		if !slices.Contains(list, f.kind) {
			list = append(list, f.kind)
		}
	}
	return list
}

// run is a recording under a judge, and the load's log.
type run struct {
	dir    string
	rec    *rig.Watched
	begun  bool // every hook was attached
	code   int
	killed int64 // when
	hung   atomic.Bool
	sides  []*rig.Side
}

// endWithin is how long a recorder may take to begin or to end.
const endWithin = 45 * time.Second

// judged makes a recording of a second.
func judged(t *testing.T, bin string, ns *rig.Namespace, judge rig.Judge, kinds, args []string) *run {
	t.Helper()
	r := &run{dir: t.TempDir()}
	var err error
	r.rec, err = rig.Watch(judge, kinds, bin, filepath.Join(r.dir, "cap.parquet"), append(append([]string{"--netns", ns.Name()}, probe...), args...)...)
	must(t, err)
	late := time.AfterFunc(endWithin, func() {
		r.hung.Store(true)
		_, _ = r.rec.Signal(syscall.SIGQUIT) // Go's runtime then says where every goroutine is
	})
	defer late.Stop()
	if r.begun = r.rec.Ready() == nil; r.begun {
		load, err := ns.StartLoad(rig.Rates{Datagrams: 500, Rounds: 100, Connects: 20})
		must(t, err)
		time.Sleep(1100 * time.Millisecond)
		r.sides, err = load.Stop()
		must(t, err)
	}
	_, r.code, _ = r.rec.End(syscall.SIGINT)
	r.rec.Close()
	return r
}

// outcome is what the recorder made of a fault, in a line.
func (r *run) outcome(errno unix.Errno) string {
	for line := range strings.Lines(r.rec.Said()) {
		if strings.Contains(line, errno.Error()) || r.code == 1 && strings.HasPrefix(line, "netrec: ") {
			return fmt.Sprintf("exit code %d, %s", r.code, strings.TrimSpace(line))
		}
	}
	return fmt.Sprintf("exit code %d, nothing said of %q", r.code, errno.Error())
}

func (r *run) files(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.dir, "*.parquet"))
	must(t, err)
	return paths
}

// TestFaults gives errors at system calls of a recording, one in each. The exit code and the message tell
// the truth, what is left opens, with every event a row or counted, and a start that did not succeed
// leaves nothing.
func TestFaults(t *testing.T) {
	needRoot(t, "recordings with faults")
	bin, ns := build(t), namespace(t)
	t.Logf("seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 3))
	undisturbed := func(args []string) *rig.Watched {
		return judged(t, bin, ns, func(rig.Syscall) (a rig.Answer) { return a }, kinds(), args).rec
	}
	one, several := undisturbed(nil), undisturbed(rotating)
	fmt.Printf("\n| fault | recordings | all recorded | losses counted | refused or ended with an error | crashed |\n|---|---|---|---|---|---|\n")
	for _, f := range faults {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), f.kind) {
			continue
		}
		t.Run(f.kind+" "+unix.ErrnoName(f.errno), func(t *testing.T) {
			whole := one
			if f.args != nil {
				whole = several
			}
			f.sweep(t, bin, ns, func() int { return 1 + random.IntN(max(1, whole.Seen(f.kind))) })
		})
	}
}

// sweep puts the fault at every call, or at some that choose names.
func (f fault) sweep(t *testing.T, bin string, ns *rig.Namespace, choose func() int) {
	codes, n := map[int]int{}, 0
	at := func(when int) bool {
		var reached, hit atomic.Bool
		r := judged(t, bin, ns, func(c rig.Syscall) (a rig.Answer) {
			if c.N != when {
				return a
			}
			reached.Store(true)
			if !wakes(c) {
				hit.Store(true)
				a.Errno = f.errno
			}
			return a
		}, []string{f.kind}, f.args)
		if hit.Load() {
			n++
			codes[r.code]++
			t.Logf("call %d: %s", when, r.outcome(f.errno))
			f.check(t, r, when)
		}
		return reached.Load()
	}
	for when := *first; *points == 0 && at(when); when++ {
	}
	for range *points {
		at(choose())
	}
	if *points == 0 && n == 0 {
		t.Errorf("no recording came to a call of this kind: nothing was tested")
	}
	fmt.Printf("| %s at %s | %d | %d | %d | %d | %d |\n", unix.ErrnoName(f.errno), f.kind, n, codes[0], codes[4], codes[1], n-codes[0]-codes[4]-codes[1])
}

// wakes reports whether a call is of Go's runtime, which wakes a thread of its own by eight bytes and ends the
// program where that does not work. The kernel does not refuse it.
func wakes(c rig.Syscall) bool { return c.Kind == "write" && c.Args[2] == 8 }

// check holds a recording with a fault to what it says of itself.
func (f fault) check(t *testing.T, r *run, when int) {
	t.Helper()
	said, paths := r.rec.Said(), r.files(t)
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("call %d: exit code %d: %s\n%s", when, r.code, fmt.Sprintf(format, args...), said)
		for _, p := range paths {
			keep(t, p)
		}
	}
	switch {
	case r.hung.Load():
		wrong("did not end by itself")
		return
	case r.code == 1 && (!strings.Contains(said, "netrec: ") || f.ofFile() && !strings.Contains(said, f.errno.Error())):
		wrong("does not say why")
	case r.code != 0 && r.code != 1 && r.code != 4 && !f.fatal(said):
		wrong("not an exit code that is documented")
	case r.code == 1 && !r.begun && len(paths) > 0:
		wrong("a start that did not succeed left %d files", len(paths))
	case r.code == 0 && f.unended():
		wrong("a file without its end or not on disk is no success")
	case r.code == 0 && len(paths) == 0:
		wrong("no file")
	}
	if len(paths) == 0 || !r.begun {
		return
	}
	got, err := inspect(r.sides, paths...)
	if err != nil {
		wrong("%v", err)
		return
	}
	for _, w := range got.wrong {
		wrong("%s", w)
	}
	for _, w := range got.unended {
		t.Logf("call %d: %s", when, w)
	}
	if r.code == 0 || r.code == 4 {
		if err := got.exact(r.sides, r.code); err != nil {
			wrong("%v", err)
		}
	}
}

// ofFile reports whether the call is one of those by which the file grows: a recording that ends with an
// error then names this one.
func (f fault) ofFile() bool { return slices.Contains(steps, f.kind) }

// unended reports whether the fault leaves a file that is not ended in order, or not known to be on disk.
func (f fault) unended() bool {
	return f.errno == unix.EIO && (f.kind == "ftruncate" || f.kind == "fdatasync")
}

// fatal reports whether the recorder ended as Go programs do that get no memory: there is no going on.
func (f fault) fatal(said string) bool {
	return f.kind == "mmap" && (strings.Contains(said, "fatal error") || strings.Contains(said, "SIGSEGV"))
}

// hooked reports whether the file says that an event was seen.
func (t *truth) hooked(event string) bool {
	return slices.ContainsFunc(t.meta.Hooks, func(h schema.EventHooks) bool { return h.Event == event && len(h.Hooks) > 0 })
}

// exact holds the account against the rows and the load's log, and the exit code against the account.
func (t *truth) exact(sides []*rig.Side, code int) error {
	var errs []error
	rows, generated, lost := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, c := range t.meta.Losses {
		rows[c.Event] += c.Recorded
		generated[c.Event] += c.Generated
		lost[c.Event] += c.Lost()
		if c.Generated != c.Recorded+c.Lost() {
			errs = append(errs, fmt.Errorf("%s on CPU %d: generated %d, recorded %d, lost %d", c.Event, c.CPU, c.Generated, c.Recorded, c.Lost()))
		}
	}
	all, calls := int64(0), int64(0)
	for event, n := range rows {
		all += lost[event]
		if t.sums[event] != n {
			errs = append(errs, fmt.Errorf("%s: %d rows, the account has %d", event, t.sums[event], n))
		}
	}
	for _, s := range sides {
		if s.Event == "sock_io" {
			calls += int64(len(s.Calls))
		}
	}
	if more := generated["sock_io"] - calls; t.hooked("sock_io") && (more < 0 || more > t.nested()) {
		errs = append(errs, fmt.Errorf("sock_io: %d generated, the load made %d calls", generated["sock_io"], calls))
	}
	if (code == 4) != (all > 0) {
		errs = append(errs, fmt.Errorf("exit code %d with %d events lost", code, all))
	}
	return errors.Join(errs...)
}
