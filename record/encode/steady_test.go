package encode

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"netrec/schema"
)

// Rows that are all the same but for one field of one row, another field in every block: what is
// looked at once for a block must not hide it. Bytes between fields differ everywhere and are
// nobody's.
func TestOneFieldDiffersInABlock(t *testing.T) {
	e := New(names{}, wall)
	for _, name := range []string{"sock_io", "tcp_state", "skb_alloc"} {
		ev := schema.ByName(name)
		fields := ev.Fields()
		base := records(ev, 1, 21)
		data := make([]byte, 0, block*len(fields)*ev.Size())
		for i := range block * len(fields) {
			rec := append([]byte(nil), base...)
			binary.LittleEndian.PutUint64(rec[offTS:], uint64(1000+i))
			for _, at := range between(fields, ev.Size()) {
				rec[at] = byte(i)
			}
			if f := fields[i/block]; i%block == 77 && f.As != schema.AsTime && f.As != schema.AsMicros {
				rec[f.Offset+f.Size-1] ^= 1
				if f.As == schema.AsIP {
					rec[f.Offset] ^= 1 // of IPv4 only the first bytes count
				}
			}
			data = append(data, rec...)
		}
		g := []Batch{{Event: ev, Data: data}}
		check(t, fileOf(t, e, g), g)
	}
}

// between is the bytes of a record that no field has.
func between(fields []schema.Field, size int) (at []int) {
	has := make([]bool, size)
	for _, f := range fields {
		for i := range f.Size {
			has[f.Offset+i] = true
		}
	}
	for i := range has {
		if !has[i] {
			at = append(at, i)
		}
	}
	return at
}

// In a hurry a page that hardly shrinks is compressed once in a while only, else always.
func TestHurry(t *testing.T) {
	page, r := make([]byte, 20_011), rand.New(rand.NewPCG(5, 9))
	for i := range page {
		if page[i] = byte(r.Uint32()); i >= 100 && i%100 < 20 { // a fifth is what it was before
			page[i] = page[i-100]
		}
	}
	e, dull := New(names{}, wall), uint8(0)
	for _, hurry := range []bool{false, true} {
		e.Hurry = hurry
		for i := range 3 * (dullFor + 1) {
			shrinks := len(e.compress(nil, page, &dull)) < len(page)
			if want := !hurry || i%(dullFor+1) == dullFor; shrinks != want {
				t.Errorf("hurry: %v, time %d: shrinks: %v, want %v", hurry, i, shrinks, want)
			}
		}
	}
	rows := []Batch{{Event: schema.ByName("sock_io"), Data: raw(sockIORows()[:3001])}}
	check(t, fileOf(t, e, rows, rows, rows), rows, rows, rows)
}
