package place

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/priv"
)

func TestMain(m *testing.M) {
	Init()
	os.Exit(m.Run())
}

// at is a clock that stands still until it is moved.
type at struct{ time.Time }

func (a *at) now() time.Time { return a.Time }

func here(t *testing.T, p Plan) (*local, *at) {
	t.Helper()
	dir, err := os.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	clock := &at{time.Date(2026, 11, 15, 23, 59, 59, 123e6, time.FixedZone("", 3600))}
	l := &local{Plan: p, dir: dir, now: clock.now}
	t.Cleanup(func() { l.Close() })
	return l, clock
}

// write makes a whole file and returns its path below the directory.
func write(t *testing.T, l *local) string {
	t.Helper()
	f, path, err := l.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("capture"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("%s has its name before it is whole: %v", path, err)
	}
	if err := l.Publish(); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(l.Dir, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// tree lists the files below a directory.
func tree(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != dir {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Files are named by UTC, private, and never take a name that is in use.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	l, _ := here(t, Hive(dir, "web/../1", 0))
	const folder = "dt=2026-11-15/host=web_.._1/"
	for _, want := range []string{folder + "20261115T225959.123Z.parquet", folder + "20261115T225959.124Z.parquet"} {
		if got := write(t, l); got != want {
			t.Errorf("file %s, want %s", got, want)
		}
		st, err := os.Lstat(filepath.Join(dir, want))
		if err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", want, st.Mode(), err)
		}
	}
	if st, err := os.Lstat(filepath.Join(dir, folder)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", st.Mode(), err)
	}
	p := Timed(filepath.Join(dir, "cap.parquet"), 0)
	l, _ = here(t, p)
	if got := write(t, l); got != "cap-20261115T225959.123Z.parquet" {
		t.Errorf("file %s", got)
	}
}

// Files after one that the user has named are numbered, and pass over what is there.
func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	for _, taken := range []string{"cap.v1.pq", "cap.v1.3.pq"} {
		if err := os.WriteFile(filepath.Join(dir, taken), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := here(t, After(filepath.Join(dir, "cap.v1.pq")))
	for _, want := range []string{"cap.v1.2.pq", "cap.v1.4.pq", "cap.v1.5.pq"} {
		if got := write(t, l); got != want {
			t.Errorf("file %s, want %s", got, want)
		}
	}
	if _, _, err := l.Begin(); err != nil {
		t.Fatal(err)
	}
	l.Discard()
	if got := write(t, l); got != "cap.v1.6.pq" {
		t.Errorf("after one that was not needed: file %s", got)
	}
}

func TestSafeHost(t *testing.T) {
	for in, want := range map[string]string{"web1.example.org": "web1.example.org", "": "unknown", "..": "_.", "a/b": "a_b", "x=\n\x1b[31m": "x___[31m",
		"ü": "_", strings.Repeat("h", 300): strings.Repeat("h", 64)} {
		want = strings.ReplaceAll(want, "[", "_")
		if got := SafeHost(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A symbolic link where a folder or a file should be is not followed.
func TestLinksAreRefused(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	l, _ := here(t, Hive(dir, "h", 1))
	if err := os.Symlink(elsewhere, filepath.Join(dir, "dt=2026-11-15")); err != nil {
		t.Fatal(err)
	}
	if _, path, err := l.Begin(); err == nil {
		t.Errorf("made %s through a link", path)
	}
	victim := filepath.Join(elsewhere, "host=h", "20200101T000000.000Z.parquet")
	if err := os.MkdirAll(filepath.Dir(victim), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{victim, strings.Replace(victim, "2020", "2021", 1)} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Prune(); err != nil {
		t.Error(err)
	}
	if got := tree(t, elsewhere); len(got) != 3 {
		t.Errorf("files behind the link were removed: %v", got)
	}

	plain := t.TempDir()
	l, clock := here(t, Timed(filepath.Join(plain, "cap.parquet"), 0))
	name := l.name(clock.Time, 0)
	if err := os.Symlink(filepath.Join(elsewhere, "new"), filepath.Join(plain, name)); err != nil {
		t.Fatal(err)
	}
	if got := write(t, l); got == name {
		t.Errorf("%s was replaced", name)
	}
	if got := tree(t, elsewhere); len(got) != 3 {
		t.Errorf("written through a link: %v", got)
	}
}

// A path that is not there is made as far as it is missing, and belongs to one user.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	p := Plan{Dir: filepath.Join(dir, "a", "b")}
	for _, want := range [][]string{{filepath.Join(dir, "a"), p.Dir}, nil} {
		var made []string
		f, err := p.make(func(f *os.File) error { made = append(made, f.Name()); return nil })
		if err != nil || !slices.Equal(made, want) {
			t.Fatalf("made %v, want %v, %v", made, want, err)
		}
		f.Close()
	}
	p.Dir = filepath.Join(dir, "file")
	if err := os.WriteFile(p.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := p.make(nil); err == nil {
		t.Errorf("%s is no directory", f.Name())
	}
}

// The oldest go first, over days; what is being written, and what is not ours, stays.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	l, clock := here(t, Hive(dir, "h", 2))
	var made []string
	for range 5 {
		made = append(made, write(t, l))
		clock.Time = clock.Add(13 * time.Hour)
	}
	other := filepath.Join(dir, "dt=2026-11-15", "host=other", "20261115T225959.123Z.parquet")
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(dir, filepath.Dir(made[4]), ".20261115T225959.123Z.parquet.new")
	for _, name := range []string{other, stray, filepath.Join(dir, filepath.Dir(made[4]), "notes.parquet")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	busy, err := os.Open(filepath.Join(dir, made[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if err := unix.Flock(int(busy.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := l.Prune(); err != nil {
		t.Error(err)
	}
	var files []string
	for _, f := range tree(t, dir) {
		if strings.HasSuffix(f, ".parquet") {
			files = append(files, f)
		}
	}
	want := []string{"dt=2026-11-15/host=other/20261115T225959.123Z.parquet", made[1], made[3], made[4], filepath.Join(filepath.Dir(made[4]), "notes.parquet")}
	slices.Sort(want)
	slices.Sort(files)
	if !slices.Equal(files, want) {
		t.Errorf("left are\n%q\nwant\n%q", files, want)
	}
	if _, err := os.Lstat(stray); !os.IsNotExist(err) {
		t.Errorf("a file that never got its name is still there: %v", err)
	}
}

// The keeper belongs to the owner of the directory and has no capability; it makes,
// names, removes, and takes what has no name along when it ends.
func TestKeeper(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: left out: files made after privileges are given up")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const owner = 54321
	if err := os.Chown(dir, owner, owner); err != nil {
		t.Fatal(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := startKeeper(Hive(dir, "h", 1), d, priv.Identity{UID: owner, GID: owner})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(k.cmd.Process.Pid), "status"))
	if err != nil || !strings.Contains(string(status), "CapEff:\t0000000000000000") || !strings.Contains(string(status), "Uid:\t54321\t54321\t54321\t54321") {
		t.Errorf("the keeper: %v\n%s", err, status)
	}
	var last string
	for range 3 {
		f, path, err := k.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Error(err)
		}
		if err := k.Publish(); err != nil {
			t.Error(err)
		}
		f.Close()
		last = path
	}
	if err := k.Prune(); err != nil {
		t.Error(err)
	}
	if _, _, err := k.Begin(); err != nil {
		t.Error(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	got := tree(t, dir)
	if rel, _ := filepath.Rel(dir, last); len(got) != 3 || got[2] != rel {
		t.Errorf("left are %v, want %s", got, rel)
	}
	st, err := os.Lstat(last)
	if err != nil || st.Sys().(*syscall.Stat_t).Uid != owner {
		t.Errorf("%s: %v, %v", last, st, err)
	}
}

// TestKeeperThatDies: whoever starts a keeper that ends before its first answer hears of it, and does not
// wait for ever.
func TestKeeperThatDies(t *testing.T) {
	dir := t.TempDir()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := startKeeper(Hive(dir, "h", 1), d, priv.Identity{UID: 1<<32 - 1, GID: 1<<32 - 1}) // nobody can be that
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "it is gone") {
			t.Errorf("a keeper that could not become its user: %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("still waiting for a keeper that is gone")
	}
}
