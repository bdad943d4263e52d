package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// oddWords are strings that a careless reader or writer spoils.
var oddWords = []string{"", "curl", "Straße", "日本語", "🦊 fox", "a\x1b[31mred", "\xff\xfe", "=1+1", `say "hi"`, `back\slash`,
	"comma,semi;", "line\nfeed", "tab\t", "\u202eright to left", "nul\x00inside", "null", "NaN"}

// oddNames resolves numbers of records to odd strings.
type oddNames struct{}

func (oddNames) Enum(e *schema.Enum, v int64) string { return e.Lookup(v) }
func (oddNames) Ref(id uint32) string                { return oddWords[int(id)%len(oddWords)] }
func (oddNames) Ksym(addr uint64) string             { return fmt.Sprintf("sym_%x", addr%97) }
func (oddNames) Cgroup(id uint32) string             { return fmt.Sprintf("/g%d", id%7) }
func (oddNames) Stack(user bool, pid int32, _ uint64, frames []uint64) string {
	return fmt.Sprintf("%v;%d;%s", user, len(frames), oddWords[int(uint32(pid))%len(oddWords)])
}

// oddSocks have bits that a float64, a signed 64-bit or a 32-bit number loses.
var oddSocks = []uint64{0, 1, 0xffff888123456781, 0xffff888123456783, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<53 + 1, 0xdeadbeef}

// oddCapture is the same recording at several moments.
type oddCapture struct {
	finished string
	running  string // as it lies between two commits, or after kill -9: its newest footer is not at the end
	cut      string // the last commit is only half there, as after a crash of the machine
	// The same, cut off behind its last whole commit, which is all that a recovery has to do.
	recovered string
	rows      []int // rows after each commit
}

const oddCommits = 6

// writeOddCapture records every event with values at and beyond the edges.
func writeOddCapture(t *testing.T) oddCapture {
	t.Helper()
	dir := t.TempDir()
	c := oddCapture{finished: filepath.Join(dir, "finished.parquet"), running: filepath.Join(dir, "running.parquet"),
		cut: filepath.Join(dir, "cut.parquet"), recovered: filepath.Join(dir, "recovered.parquet")}
	w, err := capture.Create(c.finished, false, "netrec test")
	must(t, err)
	must(t, w.Set(schema.KeyRecording, schema.Recording{Events: []string{"all"}}))
	enc := encode.New(oddNames{}, 1_700_000_000_123_456_789)
	r := rand.New(rand.NewPCG(2, 4))
	ts, whole := uint64(1), int64(0)
	for i := range oddCommits {
		if i == oddCommits-1 {
			info, err := os.Stat(c.finished)
			must(t, err)
			whole = info.Size()
		}
		ts++ // no moment is in two commits, so that rows in order of time are in order of commits
		var rare []encode.Batch
		for i := range schema.Events {
			e := &schema.Events[i]
			if b := oddBatch(r, e, 40+r.IntN(90), &ts); e.Rare() {
				rare = append(rare, b)
			} else {
				must(t, w.Add(enc, b))
			}
		}
		must(t, w.Add(enc, rare...))
		must(t, w.Commit())
		c.rows = append(c.rows, int(w.Rows()))
	}
	file, err := os.ReadFile(c.finished)
	must(t, err)
	must(t, os.WriteFile(c.running, file, 0o600))
	must(t, os.WriteFile(c.cut, file[:len(file)-1000], 0o600))
	must(t, os.WriteFile(c.recovered, file[:whole], 0o600))
	must(t, w.Close())
	return c
}

// oddBatch makes n records of random bits, all zeros and all ones, behind a header
// that orders them.
func oddBatch(r *rand.Rand, e *schema.Event, n int, ts *uint64) encode.Batch {
	data := make([]byte, n*e.Size())
	for i := range n {
		rec := data[i*e.Size():][:e.Size()]
		switch i % 5 {
		case 0: // zeros
		case 1:
			for j := range rec {
				rec[j] = 0xff
			}
		default:
			for j := range rec {
				rec[j] = byte(r.Uint32())
			}
			knownWords(r, e, rec)
		}
		*ts += r.Uint64N(3) // often none: rows of one moment
		h := (*schema.Header)(unsafe.Pointer(&rec[0]))
		*h = schema.Header{TS: *ts, Seq: *ts<<8 | uint64(i), Event: e.ID, CPU: uint16(r.IntN(1 << 16)), Ctx: uint8(r.IntN(6)),
			Sock: oddSocks[r.IntN(len(oddSocks))], Skb: r.Uint64(), Pid: int32(r.Uint32()), Tid: int32(r.Uint32()), Netns: r.Uint32()}
		copy(h.Comm[:], oddWords[r.IntN(len(oddWords))])
		if e.Name == "sock_io" { // sums of sizes stay within 64 bits, and callers are tasks
			io := (*schema.SockIO)(unsafe.Pointer(&rec[0]))
			io.Ctx, io.Ret, io.Dir = 0, int64(r.Uint64N(1<<48))-1<<44, uint8(r.IntN(2))
		}
	}
	return encode.Batch{Event: e, Data: data}
}

// knownWords gives most enums a value that has a name: analyses look closer at those.
func knownWords(r *rand.Rand, e *schema.Event, rec []byte) {
	for _, f := range e.Fields() {
		if f.Enum == nil || len(f.Enum.Values) == 0 || r.IntN(4) == 0 {
			continue
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(f.Enum.Values[r.IntN(len(f.Enum.Values))].Value))
		copy(rec[f.Offset:][:f.Size], b[:])
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
