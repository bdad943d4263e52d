package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"netrec/analyze/words"
)

// ints decodes the numbers of a page.
func (s *column) ints(encoding int32, b []byte, dst []int64) error {
	switch encoding {
	case encPlain:
		return s.plainInts(b, dst)
	case encPlainDictionary, encRLEDictionary:
		ids, err := s.positions(b, len(dst), len(s.dict))
		if err != nil {
			return err
		}
		for i, k := range ids {
			dst[i] = s.dict[k]
		}
		return nil
	case encDelta:
		if _, err := delta(b, dst); err != nil {
			return err
		}
		if s.l.phys == physInt32 {
			for i, v := range dst {
				dst[i] = s.l.widen(int32(v))
			}
		}
		return nil
	}
	return fmt.Errorf("%w: numbers in encoding %d", ErrUnsupport, encoding)
}

func (s *column) plainInts(b []byte, dst []int64) error {
	if len(b)/s.l.width() < len(dst) {
		return errCut
	}
	switch {
	case s.l.phys == physInt64:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case s.l.unsigned:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	default:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	}
	return nil
}

// positions decodes n positions in a dictionary of the given size.
func (s *column) positions(b []byte, n, size int) ([]int32, error) {
	if !s.hasDict {
		return nil, errors.New("no dictionary")
	}
	if len(b) == 0 {
		return nil, errCut
	}
	var err error
	if s.ids, err = grown(s.Pool, s.ids, n, 4); err != nil {
		return nil, err
	}
	return s.ids, hybrid(b[1:], int(b[0]), s.ids, size)
}

// scale brings timestamps of other units to microseconds.
func (s *column) scale() {
	switch s.l.kind {
	case millisKind:
		for i, v := range s.v.Ints {
			s.v.Ints[i] = v * 1000
		}
	case nanosKind:
		for i, v := range s.v.Ints {
			s.v.Ints[i] = v / 1000
		}
	}
}

// textDictionary decodes a dictionary page into Dict.
func (s *column) textDictionary(b []byte, n int) error {
	if n > len(b)/4 {
		return errCut
	}
	if err := s.more(int64(n) * 16); err != nil {
		return err
	}
	s.v.Dict = make([]string, 0, n)
	for range n {
		v, rest, err := s.cutText(b)
		if err != nil {
			return err
		}
		b, v = rest, s.cut(v)
		if err := s.more(int64(len(v))); err != nil {
			return err
		}
		s.v.Dict = append(s.v.Dict, s.text.get(v))
	}
	return nil
}

// more charges the pool for strings, which outlive the page.
func (s *column) more(n int64) error {
	if err := s.Pool.Charge(n); err != nil {
		return err
	}
	s.charged += n
	return nil
}

// cutText takes a string with its length off b.
func (s *column) cutText(b []byte) (v, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errCut
	}
	n := int64(binary.LittleEndian.Uint32(b))
	switch {
	case n > s.Table.Limits.String:
		return nil, nil, TooLarge("bytes of a string", n, s.Table.Limits.String)
	case n > int64(len(b)-4):
		return nil, nil, errCut
	}
	return b[4 : 4+n], b[4+n:], nil
}

// texts decodes the strings of a page into positions in Dict.
func (s *column) texts(encoding int32, b []byte, dst []int32) error {
	switch encoding {
	case encPlainDictionary, encRLEDictionary:
		// Strings of PLAIN pages follow those of the dictionary page in Dict, so
		// a position past the dictionary proper is only ever a wrong one of this
		// column, never out of range.
		if !s.hasDict || len(b) == 0 {
			return errors.New("no dictionary")
		}
		return hybrid(b[1:], int(b[0]), dst, len(s.v.Dict))
	case encPlain:
		for i := range dst {
			v, rest, err := s.cutText(b)
			if err != nil {
				return err
			}
			b = rest
			if dst[i], err = s.position(v); err != nil {
				return err
			}
		}
		return nil
	case encDeltaLength:
		return s.deltaLength(b, dst)
	case encDeltaBytes:
		return s.deltaBytes(b, dst)
	}
	return fmt.Errorf("%w: strings in encoding %d", ErrUnsupport, encoding)
}

// cut shortens a string that is longer than its column allows, and says so in its place: then
// every answer that shows it does.
func (s *column) cut(v []byte) []byte {
	most := s.Table.Longest[s.c.col]
	if len(v) <= most {
		return v
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(v[end]) {
		end--
	}
	s.short = append(s.short[:0], v[:end]...)
	s.short = fmt.Appendf(s.short, "… (cut, %s)", words.Count(int64(len(v)), "byte"))
	return s.short
}

// position finds or adds a string in Dict.
func (s *column) position(v []byte) (int32, error) {
	v = s.cut(v)
	if k, ok := s.lookup[string(v)]; ok {
		return k, nil
	}
	if len(s.v.Dict) >= math.MaxInt32 {
		return 0, errors.New("too many strings")
	}
	// 16 for the entry of Dict, 64 for the one of lookup.
	if err := s.more(int64(len(v)) + 80); err != nil {
		return 0, err
	}
	if s.lookup == nil {
		s.Decoder.lookup = map[string]int32{}
	}
	t := s.text.get(v)
	k := int32(len(s.v.Dict))
	s.v.Dict = append(s.v.Dict, t)
	s.lookup[t] = k
	return k, nil
}

// deltaLength decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func (s *column) deltaLength(b []byte, dst []int32) error {
	lengths, b, err := s.lengths(b, len(dst), &s.nums)
	if err != nil {
		return err
	}
	for i, n := range lengths {
		if n > int64(len(b)) {
			return errCut
		}
		if dst[i], err = s.position(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// deltaBytes decodes DELTA_BYTE_ARRAY: lengths of the prefix that a string
// shares with the one before it, then the rests as in DELTA_LENGTH_BYTE_ARRAY.
func (s *column) deltaBytes(b []byte, dst []int32) error {
	prefixes, b, err := s.lengths(b, len(dst), &s.nums)
	if err != nil {
		return err
	}
	lengths, b, err := s.lengths(b, len(dst), &s.rests)
	if err != nil {
		return err
	}
	prev := s.prev[:0]
	total := int64(0) // the format lets a byte of input stand for a long prefix
	for i, n := range lengths {
		if total += prefixes[i]; total > s.Table.Limits.Chunk {
			return TooLarge("bytes of strings in a page", total, s.Table.Limits.Chunk)
		}
		if n > int64(len(b)) || prefixes[i] > int64(len(prev)) {
			return errCut
		}
		if prefixes[i]+n > s.Table.Limits.String {
			return TooLarge("bytes of a string", prefixes[i]+n, s.Table.Limits.String)
		}
		prev = append(prev[:prefixes[i]], b[:n]...)
		if dst[i], err = s.position(prev); err != nil {
			return err
		}
		b = b[n:]
	}
	s.prev = prev
	return nil
}

// lengths decodes n delta-coded lengths into scratch space.
func (s *column) lengths(b []byte, n int, scratch *[]int64) ([]int64, []byte, error) {
	out, err := grown(s.Pool, *scratch, n, 8)
	if err != nil {
		return nil, nil, err
	}
	*scratch = out
	if b, err = delta(b, out); err != nil {
		return nil, nil, err
	}
	for _, v := range out {
		if v < 0 || v > s.Table.Limits.String {
			return nil, nil, fmt.Errorf("string of %d bytes", v)
		}
	}
	return out, b, nil
}
