package record

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"

	"netrec/schema"
)

// Rows come only for what has grown; what finds no room comes with the next look, and
// nothing is counted twice.
func TestCountingFlush(t *testing.T) {
	e := schema.ByName("func_count")
	c := &counting{mem: make([]byte, 4*8), cpus: 2, seen: make([]uint64, 4), slots: []countSlot{{e, 1}, {e, 2}}, at: 100}
	a := &account{made: newTally(2), calls: make([]atomic.Int64, schema.MaxID)}
	header := func(id uint16) schema.Header { return schema.Header{Event: id} }
	look := func(now int64, full bool) []schema.Counted {
		p := newPile(2, &pool{})
		if full {
			p.used = pileBytes
		}
		c.flush(p, a, now, header)
		var rows []schema.Counted
		for data := slices.Concat(p.kept[e.ID]...); len(data) > 0; data = data[e.Size():] {
			var row schema.Counted
			if _, err := binary.Decode(data[:e.Size()], binary.LittleEndian, &row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		return rows
	}
	set := func(cpu, slot int, n uint64) { binary.NativeEndian.PutUint64(c.mem[8*(cpu*2+slot):], n) }
	if rows := look(200, false); len(rows) != 0 {
		t.Errorf("nothing happened: %+v", rows)
	}
	set(1, 0, 7)
	if rows := look(300, false); len(rows) != 1 || rows[0].Count != 7 || rows[0].Total != 7 || rows[0].CPU != 1 || rows[0].Symbol != 1 || rows[0].Window != 100 {
		t.Errorf("seven hits: %+v", rows)
	}
	set(1, 0, 10)
	set(0, 1, 5)
	if rows := look(400, true); len(rows) != 0 || !c.owes() {
		t.Errorf("a full pile took %+v, rows are owed: %v", rows, c.owes())
	}
	if rows := look(500, false); len(rows) != 2 || rows[0].Count != 5 || rows[0].Symbol != 2 || rows[1].Count != 3 || rows[1].Total != 10 || rows[1].Window != 200 || c.owes() {
		t.Errorf("after a full pile: %+v, rows are owed: %v", rows, c.owes())
	}
	if n := *a.made.at(e.ID, 0) + *a.made.at(e.ID, 1); n != 3 {
		t.Errorf("%d rows made, want 3", n)
	}
	if n := a.calls[e.ID].Load(); n != 15 {
		t.Errorf("%d calls counted, want 15", n)
	}
}
