package encode

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// KeyValue is one pair of the footer's metadata.
type KeyValue struct{ Key, Value string }

// Footer assembles FileMetaData from row groups that are already encoded, so
// that a footer costs a copy and not a walk over every column of every group.
type Footer struct {
	createdBy string
	schema    []byte // the list of schema elements, with its header
	orders    []byte // the list of column orders, with its header
}

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

// Append adds the Thrift FileMetaData to dst. groups holds n row groups as Group
// returned them, one after the other. With n = 0 it is the base from which a
// reader rebuilds the footer of a killed recording.
func (f *Footer) Append(dst []byte, rows int64, n int, groups []byte, kv []KeyValue) []byte {
	c := compact{buf: dst}
	c.open()
	c.i32(1, 1)
	c.field(2, tList)
	c.buf = append(c.buf, f.schema...)
	c.i64(3, rows)
	c.list(4, tStruct, n)
	c.buf = append(c.buf, groups...)
	if len(kv) > 0 {
		c.list(5, tStruct, len(kv))
		for i := range kv {
			c.open()
			c.str(1, kv[i].Key)
			c.str(2, kv[i].Value)
			c.end()
		}
	}
	if f.createdBy != "" {
		c.str(6, f.createdBy)
	}
	c.field(7, tList)
	c.buf = append(c.buf, f.orders...)
	c.end()
	return c.buf
}
