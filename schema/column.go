package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Type is how the file stores a column.
type Type uint8

// Column types. Whatever people subtract is signed; kernel addresses are not.
const (
	Int32 Type = iota
	Int64
	Uint64
	String
	Micros // TIMESTAMP(MICROS, UTC)
)

func (t Type) String() string {
	return [...]string{"INT32", "INT64", "UINT64", "STRING", "TIMESTAMP(MICROS)"}[t]
}

// As is how a field of the ring record becomes the value of a column.
type As uint8

// Conversions, as the tag `as` of a field names them.
const (
	AsInt     As = iota // the number itself
	AsAddr              // kernel address
	AsTime              // monotonic nanoseconds to Unix nanoseconds
	AsMicros            // the same, to microseconds
	AsEnum              // number to name
	AsIP                // 16 bytes and a family to text
	AsStr               // NUL-terminated bytes
	AsRef               // index into the recorder's strings, 0 for NULL
	AsKsym              // kernel address to symbol, 0 for NULL
	AsCgroup            // number of a control group to its path, 0 for NULL
	AsKstack            // kernel addresses, innermost first, 0-terminated
	AsUstack            // user addresses of the process of the row, likewise
	AsPollSet           // descriptors and events, see PollSet
	AsBits              // bits to the names that an enum has for them
	AsPath              // parts of a file's name, see PathRooted
)

var asNames = map[string]As{"": AsInt, "addr": AsAddr, "time": AsTime, "enum": AsEnum, "ip": AsIP, "str": AsStr,
	"ref": AsRef, "ksym": AsKsym, "cgroup": AsCgroup, "kstack": AsKstack, "ustack": AsUstack,
	"pollset": AsPollSet, "bits": AsBits, "path": AsPath}

// Null says which raw value of a field means that there is none.
type Null uint8

// Null rules, as the tag `null` of a field names them. Strings, references,
// symbols and stacks are NULL when empty, addresses when their family is 0.
const (
	NeverNull Null = iota
	ZeroNull       // 0
	OnesNull       // all bits set, -1 if signed
	LeastNull      // the least number of a signed type, where -1 has a meaning
)

// Column is one column of the capture file.
type Column struct {
	Name     string
	Type     Type
	Required bool // never NULL
	Unit     string
	Doc      string
	Events   []string // events that fill it; nil for the required columns, which all do
}

// Field is one field of a row struct that feeds a column.
type Field struct {
	Column int // index into Columns
	Name   string
	Offset int
	Size   int // of the whole field
	Signed bool
	As     As
	Null   Null
	Enum   *Enum  // AsEnum and AsBits; nil for the enum of events
	Family int    // AsIP: offset of the uint16 family
	With   string // of the fields of a row that all have a value, or all are NULL, in almost all rows; "" for others
}

// Columns is the table of the capture file: the ordered union of all rows.
var Columns []Column

var columnIndex = map[string]int{}

// ColumnIndex is the position of a column, or -1.
func ColumnIndex(name string) int {
	if i, ok := columnIndex[name]; ok {
		return i
	}
	return -1
}

// Fields lists the fields of the event's row struct that feed columns.
func (e *Event) Fields() []Field { return e.fields }

// Size is the length of the event's ring record.
func (e *Event) Size() int { return e.size }

// required columns in the order of the file; ts is derived from the same field as ts_ns.
var required = []string{"ts_ns", "ts", "event", "cpu", "seq", "pid", "tid", "comm", "ctx", "netns", "sock", "skb"}

func init() {
	for _, n := range required {
		columnIndex[n] = len(Columns)
		Columns = append(Columns, Column{Name: n, Required: true})
	}
	for i := range Events {
		e := &Events[i]
		if err := e.build(); err != nil {
			panic(fmt.Sprintf("schema: event %s: %v", e.Name, err))
		}
	}
}

func (e *Event) build() error {
	t := reflect.TypeOf(e.Row)
	e.size = int(t.Size())
	family := map[string]int{}
	for _, sf := range reflect.VisibleFields(t) {
		family[sf.Name] = int(offset(t, sf.Index))
	}
	for _, sf := range reflect.VisibleFields(t) {
		tag, ok := sf.Tag.Lookup("col")
		if !ok {
			continue
		}
		as, arg, _ := strings.Cut(sf.Tag.Get("as"), " ")
		kind, ok := asNames[as]
		if !ok {
			return fmt.Errorf("field %s: no conversion %q", sf.Name, as)
		}
		f := Field{Name: sf.Name, Offset: int(offset(t, sf.Index)), Size: int(sf.Type.Size()), As: kind}
		f.Signed = sf.Type.Kind() >= reflect.Int && sf.Type.Kind() <= reflect.Int64
		switch n := sf.Tag.Get("null"); n {
		case "":
		case "zero":
			f.Null = ZeroNull
		case "ones":
			f.Null = OnesNull
		case "least":
			f.Null = LeastNull
		default:
			return fmt.Errorf("field %s: no null rule %q", sf.Name, n)
		}
		if f.With = sf.Tag.Get("with"); f.With != "" && (f.Null != OnesNull || kind != AsInt || f.Size < 4) {
			return fmt.Errorf("field %s: with %q is for numbers of four or eight bytes that are all ones for NULL", sf.Name, f.With)
		}
		switch kind {
		case AsEnum, AsBits:
			if arg != "event" {
				if f.Enum = Enums[arg]; f.Enum == nil {
					return fmt.Errorf("field %s: no enum %q", sf.Name, arg)
				}
			}
		case AsIP:
			if f.Family, ok = family[arg]; !ok {
				return fmt.Errorf("field %s: no family field %q", sf.Name, arg)
			}
		}
		f.Column = e.column(tag, columnType(kind, sf.Type.Kind()), sf.Tag)
		if f.Column < 0 {
			return fmt.Errorf("field %s: column %s has another type elsewhere", sf.Name, tag)
		}
		e.fields = append(e.fields, f)
		if kind == AsTime && tag == "ts_ns" {
			f.As, f.Column = AsMicros, e.column("ts", Micros, `unit:"us" doc:"ts_ns as a timestamp, for people"`)
			e.fields = append(e.fields, f)
		}
	}
	slices.SortFunc(e.fields, func(a, b Field) int { return a.Column - b.Column })
	e.completeRoles()
	return nil
}

// column finds or adds the column and returns its index, or -1 on a type clash.
func (e *Event) column(name string, t Type, tag reflect.StructTag) int {
	i, ok := columnIndex[name]
	if !ok {
		i = len(Columns)
		columnIndex[name] = i
		Columns = append(Columns, Column{Name: name, Type: t})
	}
	c := &Columns[i]
	if c.Doc == "" {
		c.Type, c.Doc, c.Unit = t, tag.Get("doc"), tag.Get("unit")
	}
	if c.Type != t {
		return -1
	}
	if !c.Required && !slices.Contains(c.Events, e.Name) {
		c.Events = append(c.Events, e.Name)
	}
	return i
}

func columnType(as As, k reflect.Kind) Type {
	switch as {
	case AsAddr:
		return Uint64
	case AsTime:
		return Int64
	case AsMicros:
		return Micros
	case AsInt:
		if k == reflect.Uint32 || k == reflect.Int64 || k == reflect.Uint64 {
			return Int64
		}
		return Int32
	}
	return String
}

func offset(t reflect.Type, index []int) uintptr {
	var off uintptr
	for _, i := range index {
		f := t.Field(i)
		off += f.Offset
		t = f.Type
	}
	return off
}
