package record_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

// TestRotation lets a recorder go through files by size and time under a load that makes
// it lose events. Every file is whole and its account exact; together they have every
// event that the load and the probes have counted.
func TestRotation(t *testing.T) {
	b := newBench(t, "files of a rotating recording")
	dir := t.TempDir()
	rec, err := b.ns.Record(b.bin, filepath.Join(dir, "cap.parquet"), append(loadOnly, "--buffer", "1M", "-G", "2", "-C", "1")...)
	must(t, err)
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 20_000, Rounds: 2_000, Connects: 5})
	must(t, err)
	begun := filesBegun(t, dir)
	begun(2)
	_, err = rec.Signal(syscall.SIGSTOP)
	must(t, err)
	time.Sleep(time.Second)
	_, err = rec.Signal(syscall.SIGCONT)
	must(t, err)
	begun(4)
	sides, err := load.Stop()
	must(t, err)
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)

	paths, err := filepath.Glob(filepath.Join(dir, "cap-*.parquet"))
	must(t, err)
	if len(paths) < 3 {
		t.Fatalf("%d files of a recording that had four", len(paths))
	}
	all := &contents{meta: nil, rows: map[place]int64{}, lost: map[place]map[string]int64{}, tids: map[rig.Key]int64{}}
	for i, path := range paths {
		c := read(t, path)
		r := c.meta.Recording
		end := schema.EndNext
		if i == len(paths)-1 {
			end = "signal"
		}
		if r.Part == nil || r.Part.Index != i+1 || r.End != end || len(c.meta.Problems) > 0 || len(c.meta.Hooks) == 0 || len(c.meta.Counters.Stop) == 0 {
			t.Errorf("%s: part %v, ended by %q, problems %q, %d hooks", path, r.Part, r.End, c.meta.Problems, len(c.meta.Hooks))
		}
		if c.meta.Rows["meta"] == 0 {
			t.Errorf("%s: no rows with facts about the host", path)
		}
		c.balance(t, nil)
		all.add(c)
	}
	lost := all.balance(t, sides)
	if lost["sock_io"] == 0 {
		t.Error("nothing was lost: the account of losses was not tested")
	}
	t.Logf("%d files, lost %v of %d socket calls made", len(paths), lost, calls(sides))
}

// add adds another file of the same recording.
func (c *contents) add(o *contents) {
	for p, n := range o.rows {
		c.rows[p] += n
	}
	for p, causes := range o.lost {
		if c.lost[p] == nil {
			c.lost[p] = map[string]int64{}
		}
		for cause, n := range causes {
			c.lost[p][cause] += n
		}
	}
	if c.meta == nil {
		m := *o.meta
		c.meta = &m
		return
	}
	for _, n := range o.meta.Losses {
		found := false
		for i := range c.meta.Losses {
			if l := &c.meta.Losses[i]; l.Event == n.Event && l.CPU == n.CPU {
				l.Add(n)
				found = true
			}
		}
		if !found {
			c.meta.Losses = append(c.meta.Losses, n)
		}
	}
}

// glob is the files of a rotating recording so far.
func glob(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "cap-*.parquet"))
	must(t, err)
	return paths
}

// filesBegun waits until a rotating recording has so many files.
func filesBegun(t *testing.T, dir string) func(n int) {
	return func(n int) {
		t.Helper()
		must(t, rig.Until(fmt.Sprintf("file %d begins", n), func() bool { return len(glob(t, dir)) >= n }))
	}
}

// TestLaterFileKnowsSockets: a connection that was made after the recording began and is
// quiet is among the facts of a file that begins later, with its owner.
func TestLaterFileKnowsSockets(t *testing.T) {
	b := newBench(t, "sockets alive at the start of a later file")
	dir := t.TempDir()
	rec, err := b.ns.Record(b.bin, filepath.Join(dir, "cap.parquet"), "-G", "1")
	must(t, err)
	load, err := b.ns.StartLoad(rig.Rates{Rounds: 5})
	must(t, err)
	filesBegun(t, dir)(2 + len(glob(t, dir))) // one of them when the load had its connections
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)
	_, err = load.Stop()
	must(t, err)
	paths := glob(t, dir)
	established := func(path string) (n, owned int) {
		for _, s := range read(t, path).meta.Sockets {
			if s.State == "ESTABLISHED" && s.Protocol == "tcp" {
				n++
				if len(s.Owners) > 0 && s.Cookie != 0 {
					owned++
				}
			}
		}
		return n, owned
	}
	if n, _ := established(paths[0]); n != 0 {
		t.Errorf("%d connections at the start, before the load", n)
	}
	if n, owned := established(paths[len(paths)-1]); n != 2 || owned != 2 {
		t.Errorf("%d connections in the last file, %d with owners, want both ends of the load's", n, owned)
	}
}

// TestEndAtTurn ends recordings while they are about to go on in the next file: that one has
// the facts about the host, too.
func TestEndAtTurn(t *testing.T) {
	b := newBench(t, "a recording that ends when a file does")
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 100})
	must(t, err)
	turned := 0
	for i := range 16 {
		if i >= 4 && turned > 0 {
			break // only a busy machine takes so long for a turn
		}
		end := fmt.Sprintf("%dms", 1100+150*i)
		dir := t.TempDir()
		rec, err := b.ns.Record(b.bin, filepath.Join(dir, "cap.parquet"), "-G", "1", "-t", end)
		must(t, err)
		if code := rec.Wait(); code != 0 {
			t.Errorf("record ended with %d\n%s", code, rec.Said())
		}
		paths, err := filepath.Glob(filepath.Join(dir, "cap-*.parquet"))
		must(t, err)
		for _, path := range paths {
			if c := read(t, path); c.meta.Rows["meta"] == 0 {
				t.Errorf("%s, ended after %s: no rows with facts about the host", filepath.Base(path), end)
			}
		}
		turned += len(paths) - 1
	}
	if turned == 0 {
		t.Error("no recording had a second file")
	}
	_, err = load.Stop()
	must(t, err)
}
