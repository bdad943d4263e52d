package synth

import (
	"encoding/binary"
	"fmt"

	"netrec/schema"
)

// maker builds records of one event.
type maker struct {
	event    *schema.Event
	fields   map[string]*schema.Field // by column
	template []byte                   // a record in which all that can be is NULL
	data     []byte                   // records since the last flush
	rows     int64                    // in all
}

func newMaker(e *schema.Event) *maker {
	m := &maker{event: e, fields: map[string]*schema.Field{}, template: make([]byte, e.Size())}
	fields := e.Fields()
	for i := range fields {
		f := &fields[i]
		if f.As == schema.AsMicros {
			continue
		}
		m.fields[schema.Columns[f.Column].Name] = f
		if f.Null == schema.OnesNull {
			for j := range f.Size {
				m.template[f.Offset+j] = 0xff
			}
		}
	}
	return m
}

// row is the record at hand. Its methods set columns by name; a name that the event
// does not have is a mistake of the scene, and panics.
type row struct {
	m *maker
	b []byte
}

func (m *maker) add() row {
	at := len(m.data)
	m.data = append(m.data, m.template...)
	m.rows++
	return row{m, m.data[at:]}
}

func (r row) field(col string) *schema.Field {
	f := r.m.fields[col]
	if f == nil {
		panic(fmt.Sprintf("synth: event %s has no column %s", r.m.event.Name, col))
	}
	return f
}

// addr sets a kernel address.
func (r row) addr(col string, a uint64) row { return r.num(col, int64(a)) }

// num sets a number.
func (r row) num(col string, v int64) row {
	r.put(r.field(col), v)
	return r
}

func (r row) put(f *schema.Field, v int64) {
	b := r.b[f.Offset:]
	switch f.Size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, uint64(v))
	}
}

// name sets an enum by the name of its value.
func (r row) name(col, value string) row {
	f := r.field(col)
	for i, v := range enumValues(f.Enum) {
		if v.Name == value {
			r.put(f, v.Value)
			return r
		}
		if i > 1<<10 {
			break
		}
	}
	panic(fmt.Sprintf("synth: column %s has no value %s", col, value))
}

// str sets a string.
func (r row) str(col, s string) row {
	f := r.field(col)
	clear(r.b[f.Offset : f.Offset+f.Size])
	copy(r.b[f.Offset:f.Offset+f.Size-1], s)
	return r
}

// ip sets an IPv4 address and the family that belongs to it.
func (r row) ip(col string, a [4]byte) row {
	f := r.field(col)
	copy(r.b[f.Offset:], a[:])
	binary.LittleEndian.PutUint16(r.b[f.Family:], afInet)
	return r
}

const afInet = 2

// stack sets a stack, given innermost first.
func (r row) stack(col string, frames []uint64) row {
	f := r.field(col)
	for i := range min(len(frames), f.Size/8) {
		binary.LittleEndian.PutUint64(r.b[f.Offset+i*8:], frames[i])
	}
	return r
}

// has reports whether the event has the column.
func (r row) has(col string) bool { return r.m.fields[col] != nil }
