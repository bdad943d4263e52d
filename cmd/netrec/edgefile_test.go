package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// dice makes choices: from the bytes of a fuzzer while there are any, then from a generator
// that they seed. So every byte steers, and few of them make a whole file.
type dice struct {
	bytes []byte
	r     *rand.Rand
	wild  int // one in so many values is an edge, the others are what a recorder might write
	times int // how many of edgeTimes there may be
	now   int64

	asked, answered int // commands
}

func newDice(b []byte) *dice {
	h := fnv.New64a()
	h.Write(b)
	d := &dice{bytes: b, r: rand.New(rand.NewPCG(h.Sum64(), 1)), now: edgeWall}
	d.wild, d.times = pick(d, []int{2, 6, 20, 60}), pick(d, []int{0, 0, 0, 0, possibleTimes, len(edgeTimes)})
	return d
}

// tame are the dice of a numbered file with what a recorder might write.
func tame(n uint64) *dice {
	d := seeded(n)
	d.wild, d.times = math.MaxInt32, 0
	return d
}

// n is a number below n.
func (d *dice) n(n int) int {
	if len(d.bytes) == 0 {
		return d.r.IntN(n)
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	if n <= 256 {
		return int(b) % n
	}
	return (int(b)<<8 | d.n(256)) % n
}

func (d *dice) oneIn(n int) bool { return d.n(n) == 0 }

func pick[T any](d *dice, from []T) T { return from[d.n(len(from))] }

// edgeWall is when these recordings are made.
const edgeWall = int64(1_700_000_000_000_000_000)

// edgeInts are numbers at which something begins or ends.
var edgeInts = []int64{0, 1, -1, 2, -2, 11, -11, 12, -12, 127, 128, -128, 255, 256, 4095, math.MaxInt16, math.MinInt16, math.MaxUint16, 1 << 16, math.MaxInt32, math.MinInt32,
	math.MaxUint32, 1 << 32, 1e9, -1e9, 1 << 53, 1<<53 + 1, 1e18, 1<<62 - 1, 1 << 62, -1 << 62, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1,
	edgeWall, edgeWall + 1e9, 4026531840}

// edgeWords are strings that something may stumble over, beside oddWords.
var edgeWords = append([]string{" ", ";", ";;;", "+0x", "a+0xffffffffffffffffff;b", "app(1a2b3c4d)+0xffffffffffffffff", "-9223372036854775808", "9223372036854775807", "1e400",
	"+9223372036854775807", "99999:IN,-1:OUT,+2147483647,0xffffffffffffffff:IN|,:,x:", "{}", `{"since_ns":-1}`, "[]", "\x00", "%s%d%n", "/", "..", "::", "fe80::1%eth0", "999.1.1.1",
	"0.0.0.0", "lo", "CLOSE", "LISTEN", "ESTABLISHED", "#", "=", "1 2", "-1 -1", strings.Repeat("a", 5000), strings.Repeat("f;", 3000), strings.Repeat("\u202e", 99)}, oddWords...)

// usualWords are what a recorder might write.
var usualWords = []string{"curl", "nginx", "eth0", "lo", "10.0.0.1", "10.0.0.2", "::1", "tcp_v4_rcv", "main;send;__sock_sendmsg+0x1a", "example.com", "5:IN|OUT,7:IN,+3", "5:IN", "fq", "/system.slice/a.service"}

// number is a value of a column of numbers.
func (d *dice) number(column string) int64 {
	switch {
	case d.oneIn(d.wild):
		return pick(d, edgeInts)
	case column == "ret":
		return pick(d, []int64{0, 0, 5, 1448, -2, -11, -111, -115})
	case strings.HasSuffix(column, "_ns"):
		return int64(d.n(200)) * 1e7
	case strings.HasSuffix(column, "port"):
		return pick(d, []int64{0, 9, 443, 40000})
	case strings.HasSuffix(column, "pid") || strings.HasSuffix(column, "tid"):
		return int64(7 + d.n(3))
	case strings.HasSuffix(column, "bytes"):
		return int64(d.n(3000))
	}
	return int64(d.n(12))
}

// address is a value of a column of kernel addresses: few, so that rows meet.
func (d *dice) address() uint64 {
	if d.oneIn(d.wild) {
		return uint64(pick(d, edgeInts))
	}
	return 0xffff888000001000 + uint64(d.n(3))*0x400
}

// edgeTimes are at the edges of what the reader takes, and then beyond them: for one of these it
// refuses all of a file that another program wrote.
var edgeTimes = []int64{0, 1, 1<<62 - 1, 1<<62 - 2, edgeWall - 1, edgeWall + 1e17, 1 << 62, -1, math.MaxInt64, math.MinInt64}

const possibleTimes = 6

// time is mostly a little after the one before.
func (d *dice) time() int64 {
	if d.times > 0 && d.oneIn(5) {
		return pick(d, edgeTimes[:d.times])
	}
	d.now += pick(d, []int64{0, 1, 1e3, 1e6, 5e7, 1e9})
	return d.now
}

// word is a value of a column of strings; names are those it has in recordings.
func (d *dice) word(names []string) string {
	switch {
	case d.oneIn(d.wild):
		return pick(d, edgeWords)
	case len(names) > 0:
		return pick(d, names)
	}
	return pick(d, usualWords)
}

// someEvents are the kinds of rows in a file: few, so that they have to do with each other.
func (d *dice) someEvents() []*schema.Event {
	var all []*schema.Event
	for range 1 + d.n(9) {
		if e := &schema.Events[d.n(len(schema.Events))]; !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// edgeFile writes a well-formed capture with values at and beyond the edges: as the recorder
// encodes it, or as another program might have written it, with any value in any column.
func edgeFile(t testing.TB, d *dice, path string) {
	t.Helper()
	if d.oneIn(3) {
		recordedEdges(t, d, path)
	} else {
		foreignEdges(t, d, path)
	}
}

// recordedEdges goes through the recorder's encoder.
func recordedEdges(t testing.TB, d *dice, path string) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	w, err := capture.New(f, "netrec test")
	must(t, err)
	events := d.someEvents()
	for _, m := range d.metadata(events) {
		must(t, w.Set(m.key, m.value))
	}
	enc := encode.New(oddNames{}, 0)
	var all []encode.Batch
	for _, e := range events {
		var data []byte
		for range 1 + d.n(6) {
			data = append(data, d.record(e)...)
		}
		all = append(all, encode.Batch{Event: e, Data: data})
	}
	must(t, w.Add(enc, all...))
	must(t, w.Close())
}

// record is one record of an event as the ring has it.
func (d *dice) record(e *schema.Event) []byte {
	rec := make([]byte, e.Size())
	for _, f := range e.Fields() {
		column := schema.Columns[f.Column].Name
		var v int64
		switch {
		case column == "ts" || column == "event":
			continue // from another field, and set below
		case column == "ts_ns":
			v = d.time()
		case f.As == schema.AsAddr || f.As == schema.AsKsym:
			v = int64(d.address())
		case f.Enum != nil && len(f.Enum.Values) > 0 && !d.oneIn(d.wild):
			v = pick(d, f.Enum.Values).Value
		case f.Size > 8 && !d.oneIn(d.wild):
			copy(rec[f.Offset:][:f.Size], d.word(nil))
			continue
		default:
			v = d.number(column)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		for i := range f.Size {
			rec[f.Offset+i] = b[i%8]
		}
	}
	binary.LittleEndian.PutUint16(rec[unsafe.Offsetof(schema.Header{}.Event):], e.ID)
	return rec
}

// enumNames are the names that columns of enums have.
var enumNames = func() map[int][]string {
	m := map[int][]string{}
	for i := range schema.Events {
		for _, f := range schema.Events[i].Fields() {
			if f.Enum == nil {
				continue
			}
			for _, v := range f.Enum.Values {
				if !slices.Contains(m[f.Column], v.Name) {
					m[f.Column] = append(m[f.Column], v.Name)
				}
			}
		}
	}
	return m
}()

// edgeRow is the values of a row that are not NULL, by column.
type edgeRow map[int]parquet.Value

// foreignEdges writes plain Parquet with rows of some events.
func foreignEdges(t testing.TB, d *dice, path string) {
	events := d.someEvents()
	var groups [][]edgeRow
	for range 1 + d.n(3) {
		var rows []edgeRow
		for range 1 + d.n(14) {
			rows = append(rows, d.row(pick(d, events)))
		}
		groups = append(groups, rows)
	}
	foreignFile(t, path, groups, d.metadata(events))
}

// foreignFile writes plain Parquet, as another program might, with the columns that rows have.
func foreignFile(t testing.TB, path string, groups [][]edgeRow, facts []fact) {
	t.Helper()
	nodes, columns := parquet.Group{}, []int{}
	for i, c := range schema.Columns {
		has := func(r edgeRow) bool { _, ok := r[i]; return ok }
		if slices.ContainsFunc(groups, func(g []edgeRow) bool { return slices.ContainsFunc(g, has) }) {
			nodes[c.Name], columns = parquet.Optional(edgeNode(c.Type)), append(columns, i)
		}
	}
	slices.SortFunc(columns, func(a, b int) int { return strings.Compare(schema.Columns[a].Name, schema.Columns[b].Name) })
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("netrec", nodes), parquet.PageBufferSize(1<<12), parquet.WriteBufferSize(1<<12))
	for _, g := range groups {
		var rows []parquet.Row
		for _, r := range g {
			row := make(parquet.Row, len(columns))
			for at, i := range columns {
				if v, ok := r[i]; ok {
					row[at] = v.Level(0, 1, at)
				} else {
					row[at] = parquet.NullValue().Level(0, 0, at)
				}
			}
			rows = append(rows, row)
		}
		_, err := w.WriteRows(rows)
		must(t, err)
		must(t, w.Flush())
	}
	for _, f := range facts {
		v, err := json.Marshal(f.value)
		must(t, err)
		w.SetKeyValueMetadata(f.key, string(v))
	}
	must(t, w.Close())
	must(t, os.WriteFile(path, b.Bytes(), 0o600))
}

func edgeNode(t schema.Type) parquet.Node {
	switch t {
	case schema.Int32:
		return parquet.Int(32)
	case schema.Int64:
		return parquet.Int(64)
	case schema.Uint64:
		return parquet.Uint(64)
	case schema.Micros:
		return parquet.Timestamp(parquet.Microsecond)
	}
	return parquet.String()
}

// row is a row of an event: most of its columns, and seldom another's.
func (d *dice) row(e *schema.Event) edgeRow {
	row := edgeRow{}
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if has := fills(c, e) && (c.Required || !d.oneIn(3)); c.Name == "ts_ns" || c.Name == "event" || has != d.oneIn(16*d.wild) {
			row[i] = d.value(e, i, c)
		}
	}
	return row
}

// fills reports whether rows of an event have a value in a column.
func fills(c *schema.Column, e *schema.Event) bool {
	return c.Required || slices.Contains(c.Events, e.Name)
}

func (d *dice) value(e *schema.Event, i int, c *schema.Column) parquet.Value {
	switch {
	case c.Name == "event" && !d.oneIn(8*d.wild):
		return parquet.ByteArrayValue([]byte(e.Name))
	case c.Name == "ts_ns":
		return parquet.Int64Value(d.time())
	case c.Type == schema.String:
		return parquet.ByteArrayValue([]byte(d.word(enumNames[i])))
	case c.Type == schema.Uint64:
		return parquet.Int64Value(int64(d.address()))
	}
	return numberValue(c, d.number(c.Name))
}

func numberValue(c *schema.Column, n int64) parquet.Value {
	if c.Type == schema.Int32 {
		return parquet.Int32Value(int32(n))
	}
	return parquet.Int64Value(n)
}

// everyEvent is rows of all events as a recorder might write them, which those of one event may
// have to do with.
func everyEvent(d *dice) (rows []edgeRow) {
	for range 2 {
		for i := range schema.Events {
			rows = append(rows, d.row(&schema.Events[i]))
		}
	}
	return rows
}

// sweep has a row for every edge in every column of an event, all else being as usual.
func sweep(d *dice, e *schema.Event) (rows []edgeRow) {
	add := func(i int, v parquet.Value) {
		r := d.row(e)
		if r[i] = v; v.IsNull() {
			delete(r, i)
		}
		rows = append(rows, r)
	}
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if !fills(c, e) || c.Name == "ts_ns" || c.Name == "event" {
			continue
		}
		add(i, parquet.NullValue())
		if c.Type == schema.String {
			for _, w := range slices.Concat(edgeWords, enumNames[i]) {
				add(i, parquet.ByteArrayValue([]byte(w)))
			}
			continue
		}
		for _, n := range edgeInts {
			add(i, numberValue(c, n))
		}
		for range 6 { // beside other values of the other columns
			for _, n := range []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, -1} {
				add(i, numberValue(c, n))
			}
		}
	}
	return rows
}

// fact is a value of the metadata.
type fact struct {
	key   string
	value any
}

// metadata is every fact that a file may have about itself, each with any value in any field.
func (d *dice) metadata(events []*schema.Event) (facts []fact) {
	filler := &filler{dice: d}
	for _, e := range events {
		filler.events = append(filler.events, e.Name)
	}
	for _, f := range []fact{{schema.KeyHost, &schema.Host{}}, {schema.KeyClock, &[]schema.Anchor{}}, {schema.KeyRecording, &schema.Recording{}}, {schema.KeyHooks, &[]schema.EventHooks{}},
		{schema.KeyLosses, &[]schema.Count{}}, {schema.KeyInterfaces, &[]schema.Interface{}}, {schema.KeyQdiscs, &[]schema.Qdisc{}}, {schema.KeySockets, &[]schema.Socket{}},
		{schema.KeyCounters, &schema.Counters{}}, {schema.KeyObjects, &[]schema.Object{}}, {schema.KeySysctls, &map[string]string{}}, {schema.KeyEnums, &map[string]map[string]int64{}}} {
		if d.oneIn(6) {
			continue
		}
		filler.fill(reflect.ValueOf(f.value).Elem(), "")
		if s, ok := f.value.(*map[string]string); ok && len(*s) > 0 {
			(*s)["net.ipv4.ip_local_port_range"] = d.word([]string{"32768 60999", "0 65535", "-9223372036854775808 9223372036854775807"})
		}
		facts = append(facts, f)
	}
	return append(facts, fact{schema.KeyFormat, schema.FormatVersion}, fact{schema.KeyVersion, d.word(nil)})
}

// filler fills the fields of a fact, whatever they are.
type filler struct {
	*dice
	events []string
}

func (f *filler) fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if f.oneIn(2) {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.n(4), 4))
		for i := range v.Len() {
			f.fill(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.n(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(k, name)
			f.fill(e, name)
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString(f.text(name))
	case reflect.Bool:
		v.SetBool(f.oneIn(2))
	case reflect.Int, reflect.Int64:
		v.SetInt(f.metaNumber(name))
	case reflect.Uint32:
		v.SetUint(uint64(uint32(f.number(name))))
	default:
		panic(fmt.Sprintf("metadata: a field %s of kind %s", name, v.Kind()))
	}
}

// usualText is what a recorder writes into some fields of the metadata.
var usualText = map[string][]string{"State": {schema.HookAttached, schema.HookMissing, schema.HookNotAsked, "LISTEN", "ESTABLISHED", "CLOSE"},
	"Hooks": {"raw_tp:inet_sock_set_state", "fexit:tcp_recvmsg", "kprobe:x"}, "End": {"", "timer", schema.EndNext}, "Protocol": {"tcp", "udp"}, "By": {"packets", "time", "calls"}}

func (f *filler) text(name string) string {
	if name == "Event" || name == "Events" {
		return f.word(f.events)
	}
	return strings.ToValidUTF8(f.word(usualText[name]), "?")
}

func (f *filler) metaNumber(name string) int64 {
	if strings.HasSuffix(name, "NS") && !f.oneIn(f.wild) {
		return edgeWall + int64(f.n(100))*1e7
	}
	return f.number(strings.ToLower(name))
}

// seeded are the dice of a numbered file.
func seeded(n uint64) *dice {
	d := newDice(strconv.AppendUint(nil, n, 10))
	d.bytes = nil
	return d
}
