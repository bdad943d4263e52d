package record

import (
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

// Piles share their memory: one that is being encoded gives it to the one that is filled.
func TestPool(t *testing.T) {
	shared, io, rcv := &pool{}, schema.ByName("sock_io"), schema.ByName("tcp_rcv_est")
	defer shared.release()
	var list [piles]*pile
	for i := range list {
		list[i] = newPile(1, shared)
		fill(list[i], io)
	}
	encoded, filled := list[0], list[piles-1]
	if encoded.used != pileBytes || filled.used != poolBytes-(piles-1)*pileBytes {
		t.Errorf("of %d bytes the first of %d piles has %d, the last %d", poolBytes, piles, encoded.used, filled.used)
	}
	encoded.forget(io.ID)
	if fill(filled, rcv); filled.used != pileBytes {
		t.Errorf("the last pile has %d bytes", filled.used)
	}
}

// A host with few rows uses the same little memory again and again.
func TestPoolOfFewRows(t *testing.T) {
	shared, rec := &pool{}, make([]byte, schema.ByName("sock_io").Size())
	defer shared.release()
	piles := []*pile{newPile(1, shared), newPile(1, shared), newPile(1, shared)}
	for i := range 100 {
		p := piles[i%len(piles)]
		if !p.add(schema.ByName("sock_io").ID, 0, rec) {
			t.Fatal("full")
		}
		p.reset()
	}
	if shared.cut != chunkBytes {
		t.Errorf("%d bytes were used for one row at a time", shared.cut)
	}
}

// What a burst took goes back to the kernel when it is over; what is in use stays.
func TestPoolAfterABurst(t *testing.T) {
	shared, io := &pool{}, schema.ByName("sock_io")
	defer shared.release()
	burst, now := newPile(1, shared), time.Now()
	fill(burst, io)
	shared.trim(now)
	burst.reset()
	if shared.trim(now.Add(trimEvery)); resident(t, shared.room) < pileBytes {
		t.Errorf("%d bytes are resident right after the burst", resident(t, shared.room))
	}
	rec := make([]byte, io.Size())
	rec[0] = 7
	if !burst.add(io.ID, 0, rec) {
		t.Fatal("full")
	}
	if shared.trim(now.Add(2 * trimEvery)); resident(t, shared.room) > pileBytes/2 || burst.kept[io.ID][0][0] != 7 {
		t.Errorf("%d bytes are resident long after the burst", resident(t, shared.room))
	}
	burst.reset()
	if fill(burst, io); burst.used != pileBytes {
		t.Errorf("the next burst has %d bytes", burst.used)
	}
}

// resident is how much of some memory the kernel has given pages to.
func resident(t *testing.T, b []byte) (n int) {
	t.Helper()
	seen := make([]byte, len(b)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&seen[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, in := range seen {
		n += int(in&1) * os.Getpagesize()
	}
	return n
}
