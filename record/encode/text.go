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

// text collects a column of strings. Records carry numbers or bytes; each
// distinct one is turned into a string once per row group.
type text struct {
	ints   intTable  // raw numbers
	bytes  byteTable // raw bytes
	intTo  []int32   // raw number to position in values, or none
	byteTo []int32   // raw bytes likewise
	values byteTable // the dictionary
	index  []int32   // position in values, without NULLs
}

func (t *text) reset() {
	t.ints.reset()
	t.bytes.reset()
	t.values.reset()
	t.intTo, t.byteTo, t.index = t.intTo[:0], t.byteTo[:0], t.index[:0]
}

// put appends the codes of a block of rows.
func (c *column) put(codes []int32) {
	t, start := &c.text, 0
	for i, code := range codes {
		if code != none {
			continue
		}
		c.levels.addValues(i - start)
		c.levels.addNulls(1)
		t.index = append(t.index, codes[start:i]...)
		start = i + 1
	}
	c.levels.addValues(len(codes) - start)
	t.index = append(t.index, codes[start:]...)
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

// numbered feeds strings that records carry as numbers.
func (e *Encoder) numbered(c *column, f *field, rows []byte, n int) {
	v, codes, t := e.ints[:n], e.codes[:n], &c.text
	f.load(v, rows)
	last, code := v[0]+1, int32(none)
	for i, x := range v {
		if x != last {
			at, fresh := t.ints.index(x)
			if fresh {
				t.intTo = append(t.intTo, e.nameNumber(c, f, x))
			}
			last, code = x, t.intTo[at]
		}
		codes[i] = code
	}
	c.put(codes)
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

// spelled feeds strings that records carry as bytes: text, addresses, stacks.
func (e *Encoder) spelled(c *column, f *field, rows []byte, n int) {
	codes, t := e.codes[:n], &c.text
	var lastKey []byte
	code := int32(none)
	for i := range codes {
		key := e.key(f, rows[i*f.stride:(i+1)*f.stride])
		if i == 0 || !bytes.Equal(key, lastKey) {
			at, fresh := t.bytes.index(key)
			if fresh {
				t.byteTo = append(t.byteTo, e.nameBytes(c, f, key))
			}
			lastKey, code = t.bytes.at(at), t.byteTo[at]
		}
		codes[i] = code
	}
	c.put(codes)
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
	return e.res.Stack(user, pid, e.frames)
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
