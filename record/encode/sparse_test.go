package encode

import (
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// Fields that the schema says have values in the same rows: in every fifth here, and now and then in
// one where only one of them has, which must not be lost.
func TestFieldsWithValuesInTheSameRows(t *testing.T) {
	e, tested := New(names{}, wall), 0
	for i := range schema.Events {
		ev := &schema.Events[i]
		var kin []schema.Field
		for _, f := range ev.Fields() {
			if f.With != "" {
				kin = append(kin, f)
			}
		}
		if len(kin) == 0 {
			continue
		}
		tested++
		var groups [][]Batch
		for seed, n := range []int{4*block + 13, 611, 7} {
			data := records(ev, n, uint64(seed))
			for r := range n {
				for j, f := range kin {
					raw := data[r*ev.Size()+f.Offset:][:f.Size]
					alone := r%97 == 13 && j == r%len(kin)
					switch {
					case r%5 != 2 && !alone:
						binary.NativeEndian.PutUint32(raw, 1<<32-1)
						binary.NativeEndian.PutUint32(raw[f.Size-4:], 1<<32-1)
					case j > 0 && r%10 == 2: // what it has more than once
						clear(raw)
					}
				}
			}
			groups = append(groups, []Batch{{Event: ev, Data: data}})
		}
		check(t, fileOf(t, e, groups...), groups...)
	}
	if tested < 2 {
		t.Errorf("%d events have such fields", tested)
	}
}

// Values of which a dictionary is hardly shorter than differences get none, once that is known.
func TestDictionariesOfLittleUse(t *testing.T) {
	rows := sockIORows()
	ev := schema.ByName("sock_io")
	for i := range rows {
		rows[i].Lport, rows[i].Rport = 443, uint16(20_000+i/10%4_000*3) // ten rows of a connection
	}
	e := New(names{}, wall)
	g := []Batch{{Event: ev, Data: raw(rows)}}
	var got []format.Encoding
	for range 3 {
		m := groupBy(t, e, g...)
		got = append(got, m.Columns[schema.ColumnIndex("rport")].MetaData.Encoding[1])
		if one := m.Columns[schema.ColumnIndex("lport")].MetaData.Encoding[1]; one != format.RLEDictionary {
			t.Errorf("a column with one value has encoding %v", one)
		}
	}
	if got[0] != format.RLEDictionary || got[1] != format.DeltaBinaryPacked || got[2] != format.DeltaBinaryPacked {
		t.Errorf("ports of %d rows are encoded as %v", len(rows), got)
	}
	check(t, fileOf(t, e, g, g), g, g)
}
