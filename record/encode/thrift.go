package encode

import "encoding/binary"

// Types of the Thrift compact protocol.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI32    = 5
	tI64    = 6
	tBinary = 8
	tList   = 9
	tStruct = 12
)

// compact appends Thrift structures in the compact protocol. The library's own
// encoder works by reflection: it takes longer for the metadata of a row group
// than the columns of a small one do, and allocates.
type compact struct {
	buf   []byte
	last  int    // id of the newest field of the open structure
	outer [8]int // last of the enclosing structures
	depth int
}

// open starts a structure that is an element of a list or the outermost one.
func (c *compact) open() {
	c.outer[c.depth] = c.last
	c.depth++
	c.last = 0
}

// begin starts a structure that is a field.
func (c *compact) begin(id int) {
	c.field(id, tStruct)
	c.open()
}

func (c *compact) end() {
	c.buf = append(c.buf, 0)
	c.depth--
	c.last = c.outer[c.depth]
}

// field ids grow by less than 16 within every structure used here, which the
// short form of a field header needs.
func (c *compact) field(id int, typ byte) {
	c.buf = append(c.buf, byte(id-c.last)<<4|typ)
	c.last = id
}

func (c *compact) i32(id int, v int32) {
	c.field(id, tI32)
	c.zigzag(int64(v))
}

func (c *compact) i64(id int, v int64) {
	c.field(id, tI64)
	c.zigzag(v)
}

func (c *compact) boolean(id int, v bool) {
	if v {
		c.field(id, tTrue)
	} else {
		c.field(id, tFalse)
	}
}

func (c *compact) bytes(id int, v []byte) {
	c.field(id, tBinary)
	c.buf = binary.AppendUvarint(c.buf, uint64(len(v)))
	c.buf = append(c.buf, v...)
}

func (c *compact) str(id int, v string) {
	c.field(id, tBinary)
	c.rawString(v)
}

func (c *compact) rawString(v string) {
	c.buf = binary.AppendUvarint(c.buf, uint64(len(v)))
	c.buf = append(c.buf, v...)
}

func (c *compact) list(id int, elem byte, n int) {
	c.field(id, tList)
	if n < 15 {
		c.buf = append(c.buf, byte(n)<<4|elem)
		return
	}
	c.buf = append(c.buf, 0xf0|elem)
	c.buf = binary.AppendUvarint(c.buf, uint64(n))
}

func (c *compact) zigzag(v int64) { c.buf = binary.AppendVarint(c.buf, v) }
