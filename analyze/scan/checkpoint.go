package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
	"netrec/schema"
)

// commit checks one commit and takes over what its checkpoint says.
func (w *walker) commit(off int64, fr *schema.Frame) error {
	if int64(fr.Checkpoint) > w.o.MaxFooter {
		return parquetfile.TooLarge("bytes of a checkpoint", int64(fr.Checkpoint), w.o.MaxFooter)
	}
	crc := uint32(0)
	data := off + schema.FrameSize
	end := data + int64(fr.Body) - int64(fr.Checkpoint)
	if err := readAll(w.f, data, end-data, w.buf, func(b []byte) { crc = crc32.Update(crc, schema.Castagnoli, b) }); err != nil {
		return fmt.Errorf("%w: %w", errRead, err)
	}
	b := make([]byte, fr.Checkpoint)
	if _, err := w.f.ReadAt(b, end); err != nil && len(b) > 0 {
		return fmt.Errorf("%w: %w", errRead, err)
	}
	if crc32.Update(crc, schema.Castagnoli, b) != fr.BodyCRC {
		return errors.New("checksum differs")
	}
	if w.leaves == nil && fr.Seq > 0 { // the first commit, which had the schema, is damaged
		if foot, ok := w.footer(off, fr); ok {
			_ = w.base(foot) // or a later one has it
		}
	}
	return w.checkpoint(off, b, data, end)
}

// checkpoint takes over row groups and metadata of a commit whose row groups lie
// in [data, end); all or nothing.
func (w *walker) checkpoint(off int64, b []byte, data, end int64) error {
	c := commit{walker: w, off: off, kv: map[string][]byte{}}
	var first error
	err := schema.Sections(b, func(kind uint32, s []byte) error {
		if err := c.section(kind, s); err != nil && first == nil {
			first = err // go on: the format version may explain it
		}
		return nil
	})
	if err := checkFormat(c.kv); err != nil {
		return err
	}
	err = cmp.Or(err, first)
	if err == nil {
		err = parquetfile.CheckPlaces(c.groups, (*group).parquet, data, end)
	}
	if err != nil {
		return err
	}
	w.groups = append(w.groups, c.groups...)
	for k, v := range c.kv {
		w.kv[k] = v
	}
	return nil
}

// commit is what one checkpoint says.
type commit struct {
	*walker
	off    int64
	groups []group
	kv     map[string][]byte
}

func (c *commit) section(kind uint32, s []byte) error {
	switch kind {
	case schema.SectionBase:
		return c.base(s)
	case schema.SectionRowGroup:
		return c.rowGroup(parquetfile.NewGroups(s))
	case schema.SectionGroups:
		return c.rowGroups(s)
	case schema.SectionMeta:
		return addMeta(c.kv, s, c.o)
	}
	return nil
}

// rowGroups takes over compressed row groups.
func (c *commit) rowGroups(s []byte) error {
	if len(s) < 4 {
		return parquetfile.Damaged("row groups: cut off")
	}
	n := int64(binary.LittleEndian.Uint32(s))
	if n > c.o.MaxFooter {
		return parquetfile.TooLarge("bytes of row groups", n, c.o.MaxFooter)
	}
	if n > maxShrunk*int64(len(s)) { // before memory is taken for it
		return parquetfile.Damaged("row groups: %s out of %s", words.Count(n, "byte"), words.Thousands(int64(len(s))))
	}
	b := make([]byte, n)
	if err := c.inflate.Zstd(b, s[4:]); err != nil {
		return parquetfile.Damage("row groups", err)
	}
	for r := parquetfile.NewGroups(b); r.More(); {
		if err := c.rowGroup(r); err != nil {
			return err
		}
	}
	return nil
}

// maxShrunk bounds how much smaller row groups can have become; those of a recording are a
// tenth at best.
const maxShrunk = 1024

// rowGroup takes over the next row group of r.
func (c *commit) rowGroup(r *parquetfile.Groups) error {
	if c.leaves == nil && !c.searched {
		c.findSchema(c.off)
	}
	if have := int64(len(c.walker.groups) + len(c.groups)); have >= c.o.MaxGroups {
		return parquetfile.TooLarge("row groups", have+1, c.o.MaxGroups)
	}
	g, err := nextGroup(r, c.table, c.leaves)
	if err != nil {
		return parquetfile.Damage("row group", err)
	}
	c.groups = append(c.groups, g)
	return nil
}

func (w *walker) base(s []byte) error {
	ft, err := parseFooter(s, w.table, w.o, false)
	if err != nil {
		return err
	}
	if err := isTable(ft.Leaves); err != nil {
		return err
	}
	w.leaves = ft.Leaves
	for k, v := range ft.kv {
		w.kv[k] = bytes.Clone(v)
	}
	return nil
}

// findSchema looks in the footers from here on for what a damaged first commit
// no longer says.
func (w *walker) findSchema(off int64) {
	fr, err := w.frame(off, w.seq)
	for seq := w.seq + 1; err == nil; seq++ {
		if b, ok := w.footer(off, &fr); ok && w.base(b) == nil {
			return
		}
		off += fr.Len()
		fr, err = w.frame(off, seq)
	}
	w.searched = true
}

// footer reads the footer of a commit if it is there and intact.
func (w *walker) footer(off int64, fr *schema.Frame) ([]byte, bool) {
	off += schema.FrameSize + int64(fr.Body)
	if fr.Footer == 0 || int64(fr.Footer) > w.o.MaxFooter || int64(fr.Footer) > w.size-off {
		return nil, false
	}
	b := make([]byte, fr.Footer)
	if _, err := w.f.ReadAt(b, off); err != nil {
		return nil, false
	}
	b = b[fr.Room:]
	return b, crc32.Checksum(b, schema.Castagnoli) == fr.FooterCRC
}
