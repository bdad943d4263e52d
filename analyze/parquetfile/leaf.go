package parquetfile

// Physical types of Parquet that are decoded.
const (
	physInt32     = 1
	physInt64     = 2
	physByteArray = 6
)

var physNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// Leaf is a column of the file as its schema declares it.
type Leaf struct {
	Name     string
	Col      int // the caller's number of it, -1 for none
	Optional bool
	phys     int8
	unsigned bool
	kind     logical
}

// IsText reports whether the values are strings.
func (l *Leaf) IsText() bool {
	return l.phys == physByteArray && (l.kind == stringKind || l.kind == plainKind)
}

// IsTime reports whether the values can be times; they are decoded as microseconds.
func (l *Leaf) IsTime() bool {
	return l.phys == physInt64 && l.kind != stringKind && l.kind != otherKind
}

// IsInt reports whether the values are numbers of any width.
func (l *Leaf) IsInt() bool {
	return (l.phys == physInt32 || l.phys == physInt64) && (l.kind == intKind || l.kind == plainKind)
}

// Type is what the file stores, for people.
func (l *Leaf) Type() string { return physNames[l.phys] + l.kind.String() }

// width is the length of a number in PLAIN encoding.
func (l *Leaf) width() int {
	if l.phys == physInt32 {
		return 4
	}
	return 8
}

func (l *Leaf) widen(v int32) int64 {
	if l.unsigned {
		return int64(uint32(v))
	}
	return int64(v)
}

// logical is what the numbers or bytes of a column mean, as far as it matters here.
type logical uint8

const (
	plainKind logical = iota
	intKind
	stringKind
	millisKind
	microsKind
	nanosKind
	otherKind
)

func (k logical) String() string {
	return [...]string{"", " (integer)", " (string)", " (timestamp in ms)", " (timestamp in us)", " (timestamp in ns)",
		" (with another meaning)"}[k]
}
