package encode

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"unicode/utf8"

	"netrec/schema"
)

// none is the code of a value that is NULL.
const none = -1

// text collects a column of strings.
type text struct {
	values byteTable // the dictionary
	at     positions // in it, without NULLs
}

func (t *text) reset() {
	t.values.reset()
	t.at.reset()
}

// raws remembers what the numbers or bytes that records carry were turned into,
// so that each distinct one is resolved once per row group. It belongs to a field:
// another event may spell or omit the same number differently.
type raws struct {
	ints  intTable
	bytes byteTable
	codes []int32 // position in the column's dictionary, or none
	short []short // of names and addresses, the last ones seen; nil for other fields
	small []int32 // of numbers below smallNames that name something: code + 2, 0 for one not asked yet; nil for other fields
}

// short is sixteen bytes, and a family where they are an address, that were named before.
// Most rows have one of a few; comparing two words beats hashing and looking up.
type short struct {
	lo, hi uint64
	family uint16
	known  bool
	code   int32
}

// smallNames is how many numbers of an enumeration are looked up by themselves, without a table.
const smallNames = 256

const (
	shortBytes = 16
	shortSlots = 256
)

// slot is where such bytes are remembered, if at all.
func (r *raws) slot(lo, hi uint64, family uint16) *short {
	h := (lo ^ hi*0x9e3779b97f4a7c15 ^ uint64(family)) * 0xff51afd7ed558ccd
	return &r.short[h>>56]
}

func (r *raws) reset() {
	r.ints.reset()
	r.bytes.reset()
	r.codes = r.codes[:0]
	clear(r.short)
	clear(r.small)
}

// put appends the codes of a block of rows.
func (c *column) put(codes []int32) {
	nulls := 0
	for _, code := range codes {
		if code == none {
			nulls++
		}
	}
	if nulls == 0 {
		c.levels.addValues(len(codes))
		c.text.at.add(codes)
		return
	}
	bits := c.levels.addMixed(len(codes), nulls)
	if bits == nil {
		return
	}
	out, kept := c.text.at.room(len(codes)-nulls), 0
	for i, code := range codes {
		if code != none {
			out[kept], bits[i] = code, 1
			kept++
		}
	}
}

// value adds a resolved string to the dictionary and returns its code.
func (e *Encoder) value(c *column, s []byte) int32 {
	if len(s) == 0 && !c.required {
		return none
	}
	if !utf8.Valid(s) {
		e.valid = appendValid(e.valid[:0], s)
		s = e.valid
	}
	code, _ := c.text.values.index(s)
	return code
}

// appendValid replaces every byte that is not UTF-8 by U+FFFD.
func appendValid(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}

// numbered takes strings that records carry as numbers.
func (e *Encoder) numbered(c *column, f *field) []int32 {
	n := len(e.rows)
	v, codes, known := e.ints[:n], e.codes[:n], &f.raws
	f.load(v, e.rows)
	for i, x := range v {
		if uint64(x) < uint64(len(known.small)) {
			if known.small[x] == 0 {
				known.small[x] = e.nameNumber(c, f, x) + 2
			}
			codes[i] = known.small[x] - 2
			continue
		}
		if i > 0 && x == v[i-1] {
			codes[i] = codes[i-1]
			continue
		}
		at, fresh := known.ints.index(x)
		if fresh {
			known.codes = append(known.codes, e.nameNumber(c, f, x))
		}
		codes[i] = known.codes[at]
	}
	return codes
}

func (e *Encoder) nameNumber(c *column, f *field, v int64) int32 {
	if f.nullable && v == f.null {
		return none
	}
	var s string
	switch {
	case f.As == schema.AsRef:
		s = e.res.Ref(uint32(v))
	case f.As == schema.AsKsym:
		s = e.res.Ksym(uint64(v))
	case f.As == schema.AsCgroup:
		s = e.res.Cgroup(uint32(v))
	case f.As == schema.AsBits:
		e.name = appendBits(e.name[:0], f.Enum.Values, uint64(v))
		return e.value(c, e.name)
	case f.Enum != nil:
		s = e.res.Enum(f.Enum, v)
	default:
		s = eventName(v)
	}
	e.name = append(e.name[:0], s...)
	return e.value(c, e.name)
}

func eventName(id int64) string {
	if ev := schema.ByID(uint16(id)); ev != nil {
		return ev.Name
	}
	return strconv.FormatInt(id, 10)
}

// spelledShort takes names and addresses.
func (e *Encoder) spelledShort(c *column, f *field) []int32 {
	codes, known, le := e.codes[:len(e.rows)], &f.raws, binary.LittleEndian
	isAddr := f.As == schema.AsIP
	for i := range codes {
		row := f.record(e.rows[i])
		raw := row[f.Offset : f.Offset+shortBytes]
		lo, hi, family := le.Uint64(raw), le.Uint64(raw[8:]), uint16(0)
		if isAddr {
			family = le.Uint16(row[f.Family:])
		}
		s := known.slot(lo, hi, family)
		if !s.known || s.lo != lo || s.hi != hi || s.family != family {
			*s = short{lo, hi, family, true, e.nameOf(c, f, row)}
		}
		codes[i] = s.code
	}
	return codes
}

// nameOf is the code of what a row has in the field.
func (e *Encoder) nameOf(c *column, f *field, row []byte) int32 {
	known := &f.raws
	at, fresh := known.bytes.index(e.key(f, row))
	if fresh {
		e.ts = binary.LittleEndian.Uint64(row[offTS:])
		known.codes = append(known.codes, e.nameBytes(c, f, known.bytes.at(at)))
	}
	return known.codes[at]
}

// spelled takes strings that records carry as bytes: text, addresses, stacks.
func (e *Encoder) spelled(c *column, f *field) []int32 {
	codes := e.codes[:len(e.rows)]
	var last []byte
	code := int32(none)
	isStack := f.As == schema.AsKstack || f.As == schema.AsUstack
	for i := range codes {
		row := f.record(e.rows[i])
		if isStack && binary.LittleEndian.Uint64(row[f.Offset:]) == 0 { // none was taken, as of most rows
			codes[i] = none
			continue
		}
		if last == nil || !f.same(row, last) {
			code = e.nameOf(c, f, row)
		}
		last, codes[i] = row, code
	}
	return codes
}

// same reports whether two records have the same bytes in the field.
func (f *field) same(a, b []byte) bool {
	if string(a[f.Offset:f.Offset+f.Size]) != string(b[f.Offset:f.Offset+f.Size]) {
		return false
	}
	switch f.As {
	case schema.AsIP:
		return a[f.Family] == b[f.Family] && a[f.Family+1] == b[f.Family+1]
	case schema.AsUstack:
		return string(a[offPid:offPid+4]) == string(b[offPid:offPid+4])
	}
	return true
}

// key is what decides the string: the bytes themselves; for addresses the family
// is put in front, for user stacks the process.
func (e *Encoder) key(f *field, row []byte) []byte {
	raw := row[f.Offset : f.Offset+f.Size]
	switch f.As {
	case schema.AsIP:
		e.raw = append(append(e.raw[:0], row[f.Family:f.Family+2]...), raw...)
		return e.raw
	case schema.AsKstack:
		return frames(raw)
	case schema.AsUstack:
		e.raw = append(append(e.raw[:0], row[offPid:offPid+4]...), frames(raw)...)
		return e.raw
	case schema.AsPollSet, schema.AsPath:
		return raw
	}
	if i := bytes.IndexByte(raw, 0); i >= 0 {
		return raw[:i]
	}
	return raw
}

// frames cuts a stack before its first zero.
func frames(raw []byte) []byte {
	for i := 0; i < len(raw); i += 8 {
		if binary.LittleEndian.Uint64(raw[i:]) == 0 {
			return raw[:i]
		}
	}
	return raw
}

func (e *Encoder) nameBytes(c *column, f *field, key []byte) int32 {
	switch f.As {
	case schema.AsIP:
		e.name = appendAddr(e.name[:0], key)
	case schema.AsKstack:
		e.name = append(e.name[:0], e.stack(false, 0, key)...)
	case schema.AsUstack:
		pid := int32(binary.LittleEndian.Uint32(key))
		e.name = append(e.name[:0], e.stack(true, pid, key[4:])...)
	case schema.AsPollSet:
		e.name = appendPollSet(e.name[:0], key)
	case schema.AsPath:
		e.name = appendPath(e.name[:0], key)
	default:
		return e.value(c, key)
	}
	return e.value(c, e.name)
}

func (e *Encoder) stack(user bool, pid int32, raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	e.frames = slices.Grow(e.frames[:0], len(raw)/8)
	for ; len(raw) >= 8; raw = raw[8:] {
		e.frames = append(e.frames, binary.LittleEndian.Uint64(raw))
	}
	return e.res.Stack(user, pid, e.ts, e.frames)
}

// Address families that have addresses the file can spell.
const (
	afInet  = 2
	afInet6 = 10
)

// appendAddr spells an address; nothing for families without one.
func appendAddr(dst, key []byte) []byte {
	switch binary.LittleEndian.Uint16(key) {
	case afInet:
		return netip.AddrFrom4([4]byte(key[2:6])).AppendTo(dst)
	case afInet6:
		return netip.AddrFrom16([16]byte(key[2:18])).AppendTo(dst)
	}
	return dst
}
