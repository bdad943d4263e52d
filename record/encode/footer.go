package encode

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// KeyValue is one pair of the footer's metadata.
type KeyValue struct{ Key, Value string }

// Footer assembles FileMetaData around row groups that are already encoded, so
// that a footer costs a copy and not a walk over every column of every group. What comes
// before the row groups and what comes after them are made apart: who has many need not
// hold them all in memory.
type Footer struct {
	createdBy string
	schema    []byte // the list of schema elements, with its header
	orders    []byte // the list of column orders, with its header
}

// Fields of FileMetaData.
const (
	fieldVersion = 1
	fieldSchema  = 2
	fieldRows    = 3
	fieldGroups  = 4
	fieldKeys    = 5
	fieldCreator = 6
	fieldOrders  = 7
)

// NewFooter prepares the parts that all footers of a file share.
func NewFooter(createdBy string) (*Footer, error) {
	base := Base(createdBy)
	f := &Footer{createdBy: createdBy}
	var err error
	if f.schema, err = elements(&struct {
		List thrift.Slice[format.SchemaElement] `thrift:"1,required"`
	}{base.Schema}); err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	if f.orders, err = elements(&struct {
		List thrift.Slice[format.ColumnOrder] `thrift:"1,required"`
	}{base.ColumnOrders}); err != nil {
		return nil, fmt.Errorf("encoding the column orders: %w", err)
	}
	return f, nil
}

// elements encodes a structure with one list and strips the structure from it.
func elements(v any) ([]byte, error) {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		return nil, err
	}
	return b[1 : len(b)-1], nil
}

// AppendBase adds FileMetaData without rows, from which a reader rebuilds the footer
// of a killed recording.
func (f *Footer) AppendBase(dst []byte) []byte {
	return f.AppendEnd(f.AppendStart(dst, 0, 0), nil)
}

// AppendStart adds what comes before n row groups.
func (f *Footer) AppendStart(dst []byte, rows int64, n int) []byte {
	c := compact{buf: dst}
	c.open()
	c.i32(fieldVersion, 1)
	c.field(fieldSchema, tList)
	c.buf = append(c.buf, f.schema...)
	c.i64(fieldRows, rows)
	c.list(fieldGroups, tStruct, n)
	return c.buf
}

// AppendEnd adds what comes after the row groups.
func (f *Footer) AppendEnd(dst []byte, kv []KeyValue) []byte {
	c := f.afterGroups(dst, kv)
	c.end()
	return c.buf
}

func (f *Footer) afterGroups(dst []byte, kv []KeyValue) *compact {
	c := &compact{buf: dst}
	c.open()
	c.last = fieldGroups
	if len(kv) > 0 {
		c.list(fieldKeys, tStruct, len(kv))
		for i := range kv {
			c.open()
			c.str(1, kv[i].Key)
			c.str(2, kv[i].Value)
			c.end()
		}
	}
	if f.createdBy != "" {
		c.str(fieldCreator, f.createdBy)
	}
	c.field(fieldOrders, tList)
	c.buf = append(c.buf, f.orders...)
	return c
}
