package encode

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// Schema is the table of the capture file in Parquet's terms: the root and one
// element per column of schema.Columns.
func Schema() []format.SchemaElement {
	els := make([]format.SchemaElement, 1, 1+len(schema.Columns))
	els[0] = format.SchemaElement{Name: "netrec", NumChildren: thrift.New(int32(len(schema.Columns)))}
	for i := range schema.Columns {
		els = append(els, element(&schema.Columns[i]))
	}
	return els
}

func element(c *schema.Column) format.SchemaElement {
	el := format.SchemaElement{
		Name:           c.Name,
		Type:           thrift.New(physical(c.Type)),
		RepetitionType: thrift.New(format.Optional),
	}
	if c.Required {
		el.RepetitionType = thrift.New(format.Required)
	}
	switch c.Type {
	case schema.Uint64:
		el.ConvertedType = thrift.New(deprecated.Uint64)
		el.LogicalType.Value = &format.IntType{BitWidth: 64}
	case schema.String:
		el.ConvertedType = thrift.New(deprecated.UTF8)
		el.LogicalType.Value = &format.StringType{}
	case schema.Micros:
		el.ConvertedType = thrift.New(deprecated.TimestampMicros)
		el.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
	}
	return el
}

func physical(t schema.Type) format.Type {
	switch t {
	case schema.Int32:
		return format.Int32
	case schema.String:
		return format.ByteArray
	}
	return format.Int64
}

// Base is the file's metadata without rows, row groups and key/value pairs.
func Base(createdBy string) format.FileMetaData {
	orders := make([]format.ColumnOrder, len(schema.Columns))
	for i := range orders {
		orders[i].Value = &format.TypeDefinedOrder{}
	}
	return format.FileMetaData{Version: 1, Schema: Schema(), CreatedBy: createdBy, ColumnOrders: orders}
}
