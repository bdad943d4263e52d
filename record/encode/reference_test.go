package encode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"

	"netrec/schema"
)

// names is a Resolver whose answers show what it was asked.
type names struct{}

func (names) Enum(e *schema.Enum, v int64) string {
	if v == 77 {
		return "" // a name nobody knows
	}
	return e.Lookup(v)
}

func (names) Ref(id uint32) string { return fmt.Sprintf("ref-%d", id) }

// Ksym gives two addresses the same name, as two places in one function have.
func (names) Ksym(addr uint64) string { return fmt.Sprintf("sym_%x", addr/2) }

func (names) Cgroup(id uint32) string { return fmt.Sprintf("/g%d", id/2) }

func (names) Stack(user bool, pid int32, _ uint64, frames []uint64) string {
	return fmt.Sprint(user, ";", pid, ";", frames)
}

type fieldKey struct {
	event  uint16
	column int
}

var fieldOf = func() map[fieldKey]*schema.Field {
	m := map[fieldKey]*schema.Field{}
	for i := range schema.Events {
		fields := schema.Events[i].Fields()
		for j := range fields {
			m[fieldKey{schema.Events[i].ID, fields[j].Column}] = &fields[j]
		}
	}
	return m
}()

// expected is the value that a column must have for a record: nil, int64 or
// string. It is written for clarity, from the contract, not from the encoder.
func expected(ev *schema.Event, rec []byte, column int, monoToWall int64) any {
	p := fieldOf[fieldKey{ev.ID, column}]
	if p == nil {
		return nil
	}
	f, col := *p, &schema.Columns[column]
	raw := rec[f.Offset : f.Offset+f.Size]
	if f.Size <= 8 && !col.Required {
		if f.Null == schema.ZeroNull && bytes.Count(raw, []byte{0}) == f.Size ||
			f.Null == schema.OnesNull && bytes.Count(raw, []byte{0xff}) == f.Size ||
			f.Null == schema.LeastNull && raw[f.Size-1] == 0x80 && bytes.Count(raw, []byte{0}) == f.Size-1 {
			return nil
		}
	}
	switch f.As {
	case schema.AsInt, schema.AsAddr:
		return number64(raw, f.Signed)
	case schema.AsTime:
		return number64(raw, false) + monoToWall
	case schema.AsMicros:
		return (number64(raw, false) + monoToWall) / 1000
	}
	s := expectedText(f, rec, raw)
	if s == "" && !col.Required {
		return nil
	}
	return s
}

func expectedText(f schema.Field, rec, raw []byte) string {
	switch f.As {
	case schema.AsEnum:
		if f.Enum == nil {
			if ev := schema.ByID(uint16(number64(raw, false))); ev != nil {
				return ev.Name
			}
			return fmt.Sprint(number64(raw, false))
		}
		return names{}.Enum(f.Enum, number64(raw, f.Signed))
	case schema.AsRef:
		if number64(raw, false) != 0 {
			return names{}.Ref(uint32(number64(raw, false)))
		}
	case schema.AsKsym:
		if number64(raw, false) != 0 {
			return names{}.Ksym(uint64(number64(raw, false)))
		}
	case schema.AsCgroup:
		if number64(raw, false) != 0 {
			return names{}.Cgroup(uint32(number64(raw, false)))
		}
	case schema.AsIP:
		switch binary.LittleEndian.Uint16(rec[f.Family:]) {
		case 2:
			return netip.AddrFrom4([4]byte(raw[:4])).String()
		case 10:
			return netip.AddrFrom16([16]byte(raw)).String()
		}
	case schema.AsKstack, schema.AsUstack:
		return expectedStack(f.As == schema.AsUstack, rec, raw)
	case schema.AsPollSet:
		return string(appendPollSet(nil, raw))
	case schema.AsPath:
		return string([]rune(string(appendPath(nil, raw))))
	case schema.AsBits:
		return expectedBits(f.Enum, number64(raw, false))
	case schema.AsStr:
		s, _, _ := strings.Cut(string(raw), "\x00")
		return string([]rune(s)) // one U+FFFD for each byte that is not UTF-8
	}
	return ""
}

// expectedBits takes the bits one by one; those without a name come last.
func expectedBits(names *schema.Enum, v int64) string {
	var said []string
	for bit := int64(1); bit <= v; bit <<= 1 {
		if n := names.Lookup(bit); v&bit != 0 && n != strconv.FormatInt(bit, 10) {
			said, v = append(said, n), v&^bit
		}
	}
	if v != 0 {
		said = append(said, fmt.Sprintf("%#x", v))
	}
	if said == nil {
		return "0"
	}
	return strings.Join(said, "|")
}

func expectedStack(user bool, rec, raw []byte) string {
	var frames []uint64
	for ; len(raw) > 0; raw = raw[8:] {
		f := binary.LittleEndian.Uint64(raw)
		if f == 0 {
			break
		}
		frames = append(frames, f)
	}
	if frames == nil {
		return ""
	}
	pid := int32(0)
	if user {
		pid = int32(binary.LittleEndian.Uint32(rec[offPid:]))
	}
	return names{}.Stack(user, pid, 0, frames)
}

func number64(raw []byte, signed bool) int64 {
	var b [8]byte
	copy(b[:], raw)
	if signed && raw[len(raw)-1]&0x80 != 0 {
		for i := len(raw); i < 8; i++ {
			b[i] = 0xff
		}
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// odd are byte patterns for fields: borders, signs, text that is no UTF-8.
var odd = []string{"\x00", "\xff", "\x00\xff", "\x80", "\x7f", "\x01\x00\x00\x00\x00\x00\x00\x00", "ab\xffc\xc3\x28\x00zz",
	"кириллица и еще", "\x1b[31m\n\x00", "\xe2\x82", "\x02\x00", "\x0a\x00", "\x4d\x00\x00\x00\x00\x00\x00\x00", "eth0\x00eth1"}

// records makes n records of an event. Values are odd, few, or random, by field.
func records(ev *schema.Event, n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(ev.ID)))
	size := ev.Size()
	data := make([]byte, n*size)
	style := map[int]int{}
	for _, f := range ev.Fields() {
		style[f.Offset] = r.IntN(4)
	}
	ts := uint64(1_000_000_000)
	for i := range n {
		rec := data[i*size : (i+1)*size]
		for _, f := range ev.Fields() {
			fill(rec[f.Offset:f.Offset+f.Size], style[f.Offset], r)
			if f.As == schema.AsIP {
				copy(rec[f.Family:], []string{"\x00\x00", "\x02\x00", "\x0a\x00", "\x01\x00"}[r.IntN(4)])
			}
		}
		ts += uint64(r.IntN(5000))
		binary.LittleEndian.PutUint64(rec[offTS:], ts)
		binary.LittleEndian.PutUint64(rec[offSeq:], uint64(i))
		binary.LittleEndian.PutUint16(rec[offCPU:], uint16(i%4))
		binary.LittleEndian.PutUint16(rec[offEvent:], ev.ID)
	}
	return data
}

func fill(b []byte, style int, r *rand.Rand) {
	switch style {
	case 0: // random
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	case 1: // odd
		p := odd[r.IntN(len(odd))]
		for i := range b {
			b[i] = p[i%len(p)]
		}
	case 2: // small
		b[0] = byte(r.IntN(9))
	case 3: // mostly the same
		b[0] = 3
		if r.IntN(1000) == 0 {
			b[0] = byte(r.Uint32())
		}
	}
}
