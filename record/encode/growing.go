package encode

import "encoding/binary"

// A growing footer gets row groups in front of those it has:
//
//	room | start | groups | end
//	room | start | newer groups (start) | groups | end
//
// The structure is ordinary FileMetaData in which the schema comes last. Its newest start is
// where a reader begins; the one before lies in a field that readers skip, at the end of the
// last of the newer groups. So no byte is written twice, none that a reader may be at is
// changed, and which groups a reader sees is decided by where it begins.

// extension is the field that the format keeps for extensions in every structure, of type
// binary; readers skip it.
const extension = 32767

// countBytes is the length of the number of row groups in a start. The last byte is 0 always:
// to a reader that has skipped the others it is the end of a row group.
const countBytes = 4

// MaxGrowing is how many row groups a growing footer can have.
const MaxGrowing = 1<<(7*(countBytes-1)) - 1

// AppendGrowingStart adds the start of a growing footer with n row groups.
func (f *Footer) AppendGrowingStart(dst []byte, rows int64, n int) []byte {
	c := compact{buf: dst}
	c.open()
	c.i32(fieldVersion, 1)
	c.i64(fieldRows, rows)
	c.field(fieldGroups, tList)
	c.buf = append(c.buf, 0xf0|tStruct)
	for range countBytes - 1 {
		c.buf = append(c.buf, byte(n)|0x80)
		n >>= 7
	}
	return append(c.buf, 0)
}

// AppendGrowth adds what lies before the start of a growing footer, which is old bytes long,
// once there are newer groups: the start for all n groups, then the newer ones, of which there
// must be one at least.
func (f *Footer) AppendGrowth(dst []byte, rows int64, n int, newer []byte, old int) []byte {
	dst = f.AppendGrowingStart(dst, rows, n)
	dst = append(dst, newer[:len(newer)-1]...) // without the end of the last, which the old start brings
	dst = longField(dst, extension, tBinary)
	return binary.AppendUvarint(dst, uint64(old-1))
}

// AppendGrowingEnd adds what comes after the row groups of a growing footer.
func (f *Footer) AppendGrowingEnd(dst []byte, kv []KeyValue) []byte {
	c := f.afterGroups(dst, kv)
	c.buf = longField(c.buf, fieldSchema, tList)
	c.buf = append(c.buf, f.schema...)
	c.end()
	return c.buf
}

// longField adds the header of a field whose id does not follow the one before.
func longField(dst []byte, id int64, typ byte) []byte {
	return binary.AppendVarint(append(dst, typ), id)
}
