package record

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"netrec/record/capture"
	"netrec/schema"
)

// numbers names everything by its number.
type numbers struct{}

func (numbers) Enum(_ *schema.Enum, v int64) string                { return strconv.FormatInt(v, 10) }
func (numbers) Ref(id uint32) string                               { return strconv.Itoa(int(id)) }
func (numbers) Ksym(addr uint64) string                            { return strconv.FormatUint(addr, 16) }
func (numbers) Cgroup(id uint32) string                            { return strconv.Itoa(int(id)) }
func (numbers) Stack(_ bool, _ int32, _ uint64, _ []uint64) string { return "main" }

// A host floods one event after the other. Buffers that one of them needed are not kept for the next.
func TestBuffersAreBounded(t *testing.T) {
	const most = 24 << 20
	file, err := capture.Create(filepath.Join(t.TempDir(), "cap.parquet"), false, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := &writer{file: file, enc: newEncoder(numbers{}, 0)}
	p := newPile(1, &pool{})
	defer p.from.release()
	before := live()
	for _, name := range []string{"sock_io", "tcp_rcv_est", "skb_consume"} {
		fill(p, schema.ByName(name))
		if err := w.add(p); err != nil {
			t.Fatal(err)
		}
		if err := file.Commit(); err != nil {
			t.Fatal(err)
		}
		p.reset()
		if got := live() - before; got > most {
			t.Errorf("after a flood of %s: %d bytes are kept, at most %d", name, got, most)
		}
	}
	runtime.KeepAlive(w)
}

// fill makes a pile full of one event, in which every number is another and names are few.
func fill(p *pile, e *schema.Event) {
	var number [8]byte
	rec, rnd := make([]byte, e.Size()), rand.New(rand.NewPCG(1, 2))
	for i := 0; ; i++ {
		for _, f := range e.Fields() {
			if field := rec[f.Offset : f.Offset+f.Size]; f.Size <= 8 {
				binary.LittleEndian.PutUint64(number[:], rnd.Uint64())
				copy(field, number[:])
			}
		}
		*(*schema.Header)(unsafe.Pointer(&rec[0])) = schema.Header{TS: uint64(1e12 + i*1000), Seq: uint64(i), Event: e.ID, Sock: uint64(i) * 64}
		if !p.add(e.ID, 0, rec) {
			return
		}
	}
}

// live is the heap that is in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
