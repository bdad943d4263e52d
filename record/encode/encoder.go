package encode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"netrec/schema"
)

// Batch is records of one event, each Event.Size() bytes as the ring
// delivered them, in any order of time.
type Batch struct {
	Event *schema.Event
	Data  []byte
	Times []uint64 // of the records, if the caller knows them; their memory is no longer in the cache
}

// Resolver names what records carry as numbers. It is asked once per distinct
// number and row group. An empty name means NULL.
type Resolver interface {
	Enum(e *schema.Enum, v int64) string
	Ref(id uint32) string
	Ksym(addr uint64) string
	Cgroup(id uint32) string
	// Stack folds frames, given innermost first, into one string: those of a process at a
	// time, monotonic ns. The slice is only valid during the call.
	Stack(user bool, pid int32, ts uint64, frames []uint64) string
}

// RowGroup is what the footer needs to know about one row group.
type RowGroup struct {
	Thrift []byte // format.RowGroup in the compact protocol; valid until the next Group
	Rows   int64
}

// Limits of one row group.
const (
	maxData = 1 << 30 // bytes of records: pages have 31-bit lengths
	block   = 512     // rows taken through all columns at a time, so that they stay in the cache
)

// Encoder builds row groups. It keeps its buffers, so one that has seen the events
// of a recording no longer allocates. It is not safe for concurrent use.
type Encoder struct {
	Hurry bool // rather be quick than short: rows come faster than is comfortable

	res        Resolver
	monoToWall int64
	plans      [][]field // by event id
	compared   []int     // words of its records, by event id
	columns    []column
	sort       sorter
	zstd       *zstd.Encoder
	dulls      []dull // by event id, those of several events at 0
	dull       *dull  // of the row group being built

	// Scratch of one block.
	ints   []int64
	codes  []int32
	diff   []uint64 // bits in which the rows of the block differ
	asked  []bool   // words of which that is asked of all rows
	rows   []*byte  // where the records of the block begin, in the order of time
	some   some     // of them
	raw    []byte   // a key
	name   []byte   // a resolved name
	valid  []byte   // the same as UTF-8
	frames []uint64
	ts     uint64 // of the row whose name is looked for

	mixed mixing
	pages pageBuffers
	bloom bloomBuffers
	meta  compact
}

// New makes an encoder. monoToWall is added to the monotonic time of records, in
// nanoseconds.
func New(res Resolver, monoToWall int64) *Encoder {
	e := &Encoder{res: res, monoToWall: monoToWall, plans: make([][]field, schema.MaxID), compared: make([]int, schema.MaxID)}
	for i := range schema.Events {
		ev := &schema.Events[i]
		for _, f := range ev.Fields() {
			e.plans[ev.ID] = append(e.plans[ev.ID], newField(f, ev.Size()))
		}
		together(e.plans[ev.ID])
		for _, f := range e.plans[ev.ID] {
			e.compared[ev.ID] = max(e.compared[ev.ID], f.span.to)
		}
	}
	for i := range schema.Columns {
		e.columns = append(e.columns, newColumn(&schema.Columns[i]))
	}
	e.ints, e.codes, e.rows = make([]int64, block), make([]int32, block), make([]*byte, 0, block)
	e.some = newSome()
	e.diff, e.asked = make([]uint64, slices.Max(e.compared)), make([]bool, slices.Max(e.compared))
	e.dulls = make([]dull, schema.MaxID)
	for i := range e.dulls {
		e.dulls[i] = newDull()
	}
	e.mixed.members = make([][]int32, schema.MaxID)
	var err error
	e.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithWindowSize(history),
		zstd.WithAllLitEntropyCompression(true)) // times repeat nothing, but some of their bytes are frequent
	if err != nil {
		panic(err) // the options above are constants
	}
	return e
}

var errRecord = errors.New("not a whole number of records")

// Group appends one row group with the rows of all batches, in the order of time,
// to dst, whose first byte will lie at offset off of the file. Without rows it
// appends nothing. On an error dst is returned as it was.
func (e *Encoder) Group(dst []byte, off int64, batches ...Batch) ([]byte, RowGroup, error) {
	n, data := 0, 0
	for i := range batches {
		size := batches[i].Event.Size()
		if len(batches[i].Data)%size != 0 {
			return dst, RowGroup{}, fmt.Errorf("event %s: %d bytes: %w of %d", batches[i].Event.Name, len(batches[i].Data), errRecord, size)
		}
		n += len(batches[i].Data) / size
		data += len(batches[i].Data)
	}
	if n == 0 {
		return dst, RowGroup{}, nil
	}
	if data > maxData {
		return dst, RowGroup{}, fmt.Errorf("%d rows: %d bytes of records exceed the limit of %d for one row group", n, data, maxData)
	}
	one := oneEvent(batches)
	e.dull = &e.dulls[0]
	if one {
		e.dull = &e.dulls[batches[0].Event.ID]
	}
	e.reset(batches, n)
	switch {
	case !one:
		e.feedMixed(batches)
	case oneRun(batches):
		e.feedAll(batches)
	default:
		e.feedOrdered(batches)
	}
	clear(e.some.rows[:cap(e.some.rows)])
	clear(e.rows[:cap(e.rows)]) // the memory that they point to is not the collector's, and may go
	out, err := e.finish(dst, off, n)
	if err != nil {
		return dst, RowGroup{}, fmt.Errorf("encoding a row group of %d rows: %w", n, err)
	}
	return out, RowGroup{Thrift: e.meta.buf, Rows: int64(n)}, nil
}

func (e *Encoder) reset(batches []Batch, n int) {
	for i := range e.columns {
		e.columns[i].reset(n >= minSpread && e.dull.spread[i] > 0)
	}
	for i := range batches {
		if i > 0 && batches[i].Event == batches[i-1].Event {
			continue
		}
		plan := e.plans[batches[i].Event.ID]
		for j := range plan {
			plan[j].raws.reset()
		}
	}
}

// feedAll feeds batches of one event that are already in the order of time.
func (e *Encoder) feedAll(batches []Batch) {
	at := 0
	for _, b := range batches {
		size := b.Event.Size()
		for off := 0; off < len(b.Data); at += len(e.rows) {
			e.rows = e.rows[:0]
			for ; len(e.rows) < block && off < len(b.Data); off += size {
				e.rows = append(e.rows, &b.Data[off])
			}
			e.feed(b.Event, at)
		}
	}
}

// feedOrdered brings records of one event into the order of time, a block at a time.
func (e *Encoder) feedOrdered(batches []Batch) {
	refs := e.sort.order(batches)
	for at := 0; at < len(refs); at += len(e.rows) {
		e.rows = e.rows[:0]
		for i := at; i < len(refs) && len(e.rows) < block; i++ {
			e.rows = append(e.rows, &batches[refs[i].batch].Data[refs[i].off])
		}
		e.feed(batches[0].Event, at)
	}
}

// feed adds the block, which is of one event and the rows of the group from number at, to
// the columns of the event. Columns it lacks catch up with NULLs later.
func (e *Encoder) feed(ev *schema.Event, at int) {
	plan := e.plans[ev.ID]
	diff := e.steady(plan, e.compared[ev.ID])
	found := 0
	for i := range plan {
		f := &plan[i]
		c := &e.columns[f.Column]
		c.levels.addNulls(at - c.levels.rows)
		switch {
		case f.span.same(diff):
			e.feedSame(c, f)
		case f.kin > 0:
			if f.kin != found {
				e.some.find(e.rows, f.words)
				found = f.kin
			}
			e.feedSome(c, f)
		default:
			e.feedField(c, f)
		}
	}
}

// feedField adds what the rows of the block have in a field to its column.
func (e *Encoder) feedField(c *column, f *field) {
	if !f.isNumber() {
		c.put(e.codesOf(c, f))
		return
	}
	v := e.ints[:len(e.rows)]
	f.load(v, e.rows)
	if f.nullable {
		v = c.levels.dropNulls(v, f.null)
	} else {
		c.levels.addValues(len(v))
	}
	f.convert(v, e.monoToWall)
	c.number.add(v)
}

// feedSame is feedField where all rows have the same.
func (e *Encoder) feedSame(c *column, f *field) {
	rows, n := e.rows, len(e.rows)
	e.rows = rows[:1]
	if f.isNumber() {
		v := e.ints[:1]
		f.load(v, e.rows)
		if f.nullable && v[0] == f.null {
			c.levels.addNulls(n)
		} else {
			c.levels.addValues(n)
			f.convert(v, e.monoToWall)
			c.number.addSame(v[0], n)
		}
	} else if code := e.codesOf(c, f)[0]; code == none {
		c.levels.addNulls(n)
	} else {
		c.levels.addValues(n)
		c.text.at.addSame(code, n)
	}
	e.rows = rows
}

// codesOf is what the records of the block have in a field of strings: positions in the
// column's dictionary, or none. They are valid until the next call.
func (e *Encoder) codesOf(c *column, f *field) []int32 {
	switch f.As {
	case schema.AsEnum, schema.AsRef, schema.AsKsym, schema.AsCgroup, schema.AsBits:
		return e.numbered(c, f)
	}
	if f.raws.short != nil {
		return e.spelledShort(c, f)
	}
	return e.spelled(c, f)
}
