package parquetfile

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Page types.
const (
	pageData   = 0
	pageIndex  = 1
	pageDict   = 2
	pageDataV2 = 3
)

// page is one page of a column chunk: its header, checked, and its bytes.
type page struct {
	kind     int32
	raw      int32 // bytes after decompression
	values   int32 // NULLs included
	encoding int32
	nulls    int32 // v2
	defBytes int32 // v2: bytes of definition levels before the values
	plain    bool  // v2: the values are not compressed
	body     []byte
}

// nextPage takes a page off b. left is how many values the chunk still lacks.
func nextPage(b []byte, c *chunk, l *Leaf, left int) (page, []byte, error) {
	r := &thrift{b: b}
	h := pageHeader{kind: -1}
	h.parse(r)
	if r.err != nil {
		return page{}, nil, fmt.Errorf("page header: %w", r.err)
	}
	p := page{kind: h.kind, raw: h.raw, values: h.v.values, encoding: h.v.encoding, nulls: h.v.nulls, defBytes: h.v.defBytes, plain: h.v.plain}
	switch {
	case h.raw < 0 || h.raw > c.raw || h.size < 0 || int(h.size) > len(b)-r.pos:
		return p, nil, errors.New("page larger than its column")
	case h.kind == pageIndex:
		return p, b[r.pos+int(h.size):], nil
	case h.kind != pageData && h.kind != pageDict && h.kind != pageDataV2 || h.kind != h.v.kind:
		return p, nil, errors.New("page of no known kind")
	case p.values < 0 || p.kind != pageDict && int(p.values) > left:
		return p, nil, fmt.Errorf("page of %d values where %d are due", p.values, left)
	}
	if h.kind == pageData && l.Optional && h.v.levels != encRLE {
		return p, nil, fmt.Errorf("%w: levels in encoding %d", ErrUnsupport, h.v.levels)
	}
	p.body = b[r.pos : r.pos+int(h.size)]
	if h.hasCRC && crc32.ChecksumIEEE(p.body) != uint32(h.crc) {
		return p, nil, errors.New("page checksum differs")
	}
	if p.kind == pageDataV2 {
		if err := h.v.check(l, h.size, h.raw); err != nil {
			return p, nil, err
		}
	}
	return p, b[r.pos+int(h.size):], nil
}

// check holds the lengths of a v2 page against each other.
func (v *pageValues) check(l *Leaf, size, raw int32) error {
	switch {
	case v.repBytes != 0:
		return errors.New("repetition levels in a flat column")
	case v.defBytes < 0 || v.defBytes > size || v.defBytes > raw:
		return errors.New("levels longer than the page")
	case v.rows != v.values || v.nulls < 0 || v.nulls > v.values || v.nulls > 0 && !l.Optional:
		return fmt.Errorf("page of %d values in %d rows with %d NULLs", v.values, v.rows, v.nulls)
	}
	return nil
}

type pageHeader struct {
	kind, raw, size int32
	crc             int32
	hasCRC          bool
	v               pageValues
}

// pageValues is the part of the header that depends on the kind of page.
type pageValues struct {
	kind                            int32
	values, encoding                int32
	nulls, rows, defBytes, repBytes int32
	plain                           bool
	levels                          int32 // v1: encoding of definition levels
}

func (h *pageHeader) parse(r *thrift) {
	h.v.kind = -1
	for id, t := range r.fields() {
		switch id {
		case 1:
			h.kind = r.i32(t)
		case 2:
			h.raw = r.i32(t)
		case 3:
			h.size = r.i32(t)
		case 4:
			h.crc, h.hasCRC = r.i32(t), true
		case 5:
			h.v.parse(r, t, pageData)
		case 7:
			h.v.parse(r, t, pageDict)
		case 8:
			h.v.parse(r, t, pageDataV2)
		default:
			r.skip(t, 0)
		}
	}
}

func (v *pageValues) parse(r *thrift, t byte, kind int32) {
	if !r.want(t, tStruct) {
		return
	}
	if v.kind != -1 {
		r.fail(errors.New("page of two kinds"))
		return
	}
	v.kind = kind
	for id, t := range r.fields() {
		switch {
		case id == 1:
			v.values = r.i32(t)
		case id == 2 && kind != pageDataV2:
			v.encoding = r.i32(t)
		case id == 3 && kind == pageData:
			v.levels = r.i32(t)
		case id == 2:
			v.nulls = r.i32(t)
		case id == 3 && kind == pageDataV2:
			v.rows = r.i32(t)
		case id == 4 && kind == pageDataV2:
			v.encoding = r.i32(t)
		case id == 5 && kind == pageDataV2:
			v.defBytes = r.i32(t)
		case id == 6 && kind == pageDataV2:
			v.repBytes = r.i32(t)
		case id == 7 && kind == pageDataV2:
			v.plain = !r.bool(t)
		default:
			r.skip(t, 0)
		}
	}
}
