package capture

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"netrec/record/encode"
)

// smallCapture is a file of several commits, as it lay when the recorder was killed.
func smallCapture(t *testing.T) ([]byte, *walked) {
	t.Helper()
	w, path := create(t)
	enc := encode.New(names{}, 0)
	for i := range 6 {
		must(t, w.Set("netrec.losses", i))
		must(t, w.Add(enc, batch("skb_consume", 3, 10*i)))
		must(t, w.Add(enc, batch("meta", 1, 10*i+5)))
		must(t, w.Commit())
	}
	file, err := os.ReadFile(path)
	must(t, err)
	got, err := walk(file)
	must(t, err)
	must(t, w.Close())
	if len(got.groups) != 12 || got.rows(t) != 24 {
		t.Fatalf("%d groups, %d rows", len(got.groups), got.rows(t))
	}
	return file, got
}

func TestEveryCutLeavesTheCommitsBefore(t *testing.T) {
	file, all := smallCapture(t)
	n := len(all.ends)
	const step = 331 // odd, so that all parts of a frame are cut somewhere
	var cuts []int64
	for cut := all.ends[n-3]; cut < all.ends[n-1]; cut += step {
		cuts = append(cuts, cut)
	}
	for _, end := range all.ends[n-3:] {
		cuts = append(cuts, end-1, end, min(end+1, all.ends[n-1]))
	}
	for _, cut := range cuts {
		whole := 0
		for whole < n && all.ends[whole] <= cut {
			whole++
		}
		want, err := walk(file[:all.ends[whole-1]])
		must(t, err)
		got, err := walk(file[:cut])
		if len(got.frames) != whole || !slices.EqualFunc(got.groups, want.groups, bytes.Equal) || len(got.groups) == 0 {
			t.Fatalf("cut at %d: %d commits with %d groups, want %d commits with %d", cut, len(got.frames), len(got.groups), whole, len(want.groups))
		}
		if atEnd := cut == all.ends[whole-1]; (err == nil) != atEnd {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if !bytes.Equal(got.meta["netrec.losses"], want.meta["netrec.losses"]) {
			t.Fatalf("cut at %d: metadata %s, want %s", cut, got.meta["netrec.losses"], want.meta["netrec.losses"])
		}
	}
}

func TestChangedByteEndsTheWalk(t *testing.T) {
	file, all := smallCapture(t)
	n := len(all.ends)
	last := all.frames[n-1]
	from := all.ends[n-2]
	for at := from; at < from+64+int64(last.Body); at += 5 {
		file[at] ^= 0x10
		if got, err := walk(file); err == nil || len(got.frames) != n-1 {
			t.Fatalf("byte %d changed: %d commits, %v", at, len(got.frames), err)
		}
		file[at] ^= 0x10
	}
}

// A stock reader sees all rows after any commit but the very first, whose footer follows it,
// and also where newer commits were written since: what it reads is never changed.
func TestStockReadersOpenAfterAnyCommit(t *testing.T) {
	file, all := smallCapture(t)
	grown := 0
	for i, end := range all.ends[1:] {
		want, err := walk(file[:end])
		must(t, err)
		if rows := stockRows(t, file[:end]); rows != want.rows(t) {
			t.Errorf("after frame %d: %d rows, want %d", i+1, rows, want.rows(t))
		}
		if all.frames[i+1].Footer == 0 {
			grown++
		}
	}
	if grown == 0 {
		t.Error("every frame has a footer; none has grown")
	}
}

const childFile = "NETREC_TEST_CAPTURE"

// TestMain lets the test program be its own recorder.
func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		record(path)
	}
	os.Exit(m.Run())
}

// record commits without end and says how many rows are in the file.
func record(path string) {
	w, err := Create(path, false, "netrec test")
	enc := encode.New(names{}, 0)
	for i := 0; err == nil; i += 5000 {
		if err = w.Add(enc, batch("tcp_rcv_est", 5000, i)); err == nil {
			err = w.Commit()
		}
		os.Stdout.WriteString(strconv.FormatInt(w.Rows(), 10) + "\n")
	}
	os.Exit(1)
}

func TestKilledWriterLeavesWhatItCommitted(t *testing.T) {
	for i := range 8 {
		path := filepath.Join(t.TempDir(), "cap.parquet")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFile+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		lines.Scan()
		time.AfterFunc(time.Duration(i*3)*time.Millisecond, func() { cmd.Process.Kill() })
		said := lines.Text()
		for lines.Scan() {
			if s := lines.Text(); strings.Trim(s, "0123456789") == "" {
				said = s
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the recorder ended by itself")
		}
		rows, err := strconv.ParseInt(said, 10, 64)
		must(t, err)
		file, err := os.ReadFile(path)
		must(t, err)
		if got, err := walk(file); got.rows(t) < rows {
			t.Errorf("%d rows found, %d were committed (%v)", got.rows(t), rows, err)
		}
	}
}
