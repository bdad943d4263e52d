package truth

import (
	"bytes"
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"netrec/internal/bench/vmtest"
)

var kernels = flag.String("kernels", os.Getenv("NETREC_KERNELS"), "Debian kernels to boot, separated by commas, or all, or some: the oldest and the newest; empty for none")

// guestTests run in each booted kernel, and on the running one by themselves. Of all kernels, the
// oldest, the newest and the one between also have someTests, the first two crowdTests, and the oldest
// ownTests, which are about rules of the recorder's own. Of some, which must not take long, the newest has
// someTests and the oldest crowdTests. A kernel that is asked for by its name has all.
var (
	guestTests = []string{"TestThisKernel", "TestLibraries"}
	someTests  = []string{"TestShare", "TestDoors", "TestMultipath", "TestRoundTrips"}
	crowdTests = []string{"TestStorm", "TestNewCPU"}
	ownTests   = []string{"TestFilters"}
	askedTests = []string{"TestWaits", "TestFarWaits"} // only on a kernel asked for by its name
)

func testsIn(kernel string) []string {
	all := vmtest.Names()
	oldest, between, newest := all[0], all[len(all)/2], all[len(all)-1]
	switch {
	case *kernels == "some" && kernel == oldest:
		return slices.Concat(guestTests, crowdTests)
	case *kernels == "some":
		return slices.Concat(guestTests, someTests)
	case *kernels != "all":
		return slices.Concat(guestTests, someTests, crowdTests, ownTests, askedTests)
	case kernel == oldest:
		return slices.Concat(guestTests, someTests, crowdTests, ownTests)
	case kernel == newest:
		return slices.Concat(guestTests, someTests, crowdTests)
	case kernel == between:
		return slices.Concat(guestTests, someTests)
	}
	return guestTests
}

// asked are the kernels to boot.
func asked() []string {
	all := vmtest.Names()
	switch *kernels {
	case "all":
		return all
	case "some":
		return []string{all[0], all[len(all)-1]}
	}
	return strings.Split(*kernels, ",")
}

// TestKernels boots the kernels and runs the tests of one kernel in each.
func TestKernels(t *testing.T) {
	if *kernels == "" {
		t.Skip("no kernels asked for: go test ./internal/bench/truth -kernels all (or make kernels) boots them")
	}
	var ran []string // of those asked for, what -run left
	share := buildTools(t)
	t.Cleanup(func() {
		if *update || !t.Failed() {
			compareHooks(t, share, ran)
		}
	})
	for _, name := range asked() {
		t.Run(name, func(t *testing.T) {
			ran = append(ran, name)
			t.Parallel()
			begun, tests := time.Now(), testsIn(name)
			config := vmtest.Config{Kernel: name, Share: share, Env: []string{guestEnv + "=" + name},
				Command: []string{"/host/truth.test", "-test.v", "-test.run", "^(" + strings.Join(tests, "|") + ")$"}, Timeout: time.Hour,
				MemoryMiB: 2048} // the storm fills rings and piles, TestFilters has seven recorders
			res, err := vmtest.Run(context.Background(), config)
			if err != nil {
				t.Fatalf("%v\n%s", err, tail(res.Output))
			}
			if res.Impossible != "" {
				t.Logf("booted a second time: the emulator had given the guest %s", res.Impossible)
			}
			passed := !slices.ContainsFunc(tests, func(name string) bool { return !bytes.Contains(res.Output, []byte("PASS: "+name)) })
			if res.ExitCode != 0 || !passed {
				what := failures(res.Output)
				if len(what) == 0 { // it did not come to an end
					what = tail(res.Output)
				}
				t.Errorf("exit code %d:\n%s", res.ExitCode, what)
			}
			for line := range bytes.Lines(res.Output) {
				if bytes.Contains(line, []byte(again)) || bytes.HasPrefix(line, []byte("--- ")) {
					t.Logf("in the guest: %s", bytes.TrimSpace(line)) // a second try is never silent, and where the time goes is seen
				}
			}
			t.Logf("kernel %s (%s): %s", name, res.Kernel.Version, time.Since(begun).Round(time.Second))
		})
	}
	if len(ran) == 0 {
		t.Error("no kernel of these was booted:", asked())
	}
}

// failures is what the failed tests said, of the output of go test -v.
func failures(output []byte) []byte {
	said, failed, test := map[string][]byte{}, []byte{}, ""
	for line := range bytes.Lines(output) {
		if name, ok := bytes.CutPrefix(line, []byte("=== ")); ok {
			_, after, _ := bytes.Cut(name, []byte(" "))
			test = string(bytes.TrimSpace(after))
			continue
		}
		if _, after, ok := bytes.Cut(line, []byte("--- FAIL: ")); ok {
			name, _, _ := bytes.Cut(after, []byte(" "))
			failed = append(append(failed, line...), said[string(name)]...)
			continue
		}
		said[test] = append(said[test], line...)
	}
	return tail(failed)
}

func tail(b []byte) []byte {
	if len(b) > 20_000 {
		return b[len(b)-20_000:]
	}
	return b
}

// TestFailures: of a guest's output, what failed tests said is found, and nothing else.
func TestFailures(t *testing.T) {
	out := "=== RUN   TestA\n=== RUN   TestA/one\n    a_test.go:1: wrong\n=== RUN   TestA/two\n    a_test.go:2: fine\n" +
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/one (0.0s)\n    --- PASS: TestA/two (0.0s)\nFAIL\n"
	want := "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/one (0.0s)\n    a_test.go:1: wrong\n"
	if got := string(failures([]byte(out))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShown: calls without a row are passed over only as far as the account tells of them.
func TestShown(t *testing.T) {
	calls := []want{{enter: 10, exit: 20}, {enter: 30, exit: 40}, {enter: 50, exit: 60}, {enter: 70, exit: 80}}
	rows := []Row{{TS: 15}, {TS: 55}}
	for unseen, want := range map[int]int{0: 4, 1: 3, 2: 2, 3: 2} {
		if got := shown(rows, calls, unseen); len(got) != want {
			t.Errorf("%d unseen: %d calls, want %d", unseen, len(got), want)
		}
	}
}
