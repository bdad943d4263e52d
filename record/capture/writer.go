package capture

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"netrec/record/encode"
	"netrec/schema"
)

// When a segment is full.
const (
	maxGroups = 4096
	maxBytes  = 1 << 30
	maxAge    = time.Hour
)

// Writer appends commits to one capture file. It is not safe for concurrent use.
type Writer struct {
	file  file
	nonce [schema.NonceSize]byte

	end     int64 // of the last whole commit
	claimed int64 // space is reserved up to here
	noClaim bool  // the file system cannot reserve
	spoilt  bool  // by others; the next file may fare better
	seq     uint64
	started time.Time
	now     func() time.Time

	// The commit being built: room for the frame header, then row groups.
	buf     []byte
	pending groups
	changed map[string]bool // metadata not yet in a checkpoint

	// What the file holds so far.
	groups groups
	meta   map[string]string // key to JSON

	footer     *encode.Footer
	footerAt   time.Time
	footerOff  int64 // start of the newest full footer, 0 for none
	footerLen  int64
	stale      bool // commits came after the newest footer
	dead       []span
	checkpoint []byte // scratch

	sync syncer
}

// groups is Thrift row groups, one after the other.
type groups struct {
	thrift []byte
	ends   []int
	rows   int64
}

func (g *groups) add(thrift []byte, rows int64) {
	g.thrift = append(g.thrift, thrift...)
	g.ends = append(g.ends, len(g.thrift))
	g.rows += rows
}

func (g *groups) truncate() { g.thrift, g.ends, g.rows = g.thrift[:0], g.ends[:0], 0 }

type span struct{ off, n int64 }

// LostError is a commit that could not be written. The file is as it was before
// it; its rows are gone, its metadata goes into the next commit.
type LostError struct {
	Rows int64
	Err  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("commit of %d rows: %v", e.Rows, e.Err)
}

// Unwrap is the cause, such as syscall.ENOSPC.
func (e *LostError) Unwrap() error { return e.Err }

// Add encodes the batches into one row group of the next commit.
func (w *Writer) Add(enc *encode.Encoder, batches ...encode.Batch) error {
	buf, rg, err := enc.Group(w.buf, w.end, batches...)
	if err != nil {
		return err
	}
	if len(buf) > schema.MaxFrame/2 {
		return fmt.Errorf("commit %d: %d bytes exceed the limit of %d", w.seq, len(buf), schema.MaxFrame/2)
	}
	w.buf = buf
	if rg.Rows > 0 {
		w.pending.add(rg.Thrift, rg.Rows)
	}
	return nil
}

// Set changes one key of the file's metadata from the next commit on. The value
// is stored as JSON.
func (w *Writer) Set(key string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	if old, ok := w.meta[key]; !ok || old != string(b) {
		w.meta[key] = string(b)
		w.changed[key] = true
	}
	return nil
}

// Pending is how many rows and bytes the next commit holds so far.
func (w *Writer) Pending() (rows, bytes int64) {
	return w.pending.rows, int64(len(w.buf) - schema.FrameSize)
}

// Size is the length of the file.
func (w *Writer) Size() int64 { return w.end }

// Rows is how many rows the file holds.
func (w *Writer) Rows() int64 { return w.groups.rows }

// Full reports that the segment should be closed and the next one begun.
func (w *Writer) Full() bool {
	return w.spoilt || len(w.groups.ends) >= maxGroups || w.end >= maxBytes || w.now().Sub(w.started) >= maxAge
}

// Commit writes what was added and set since the last one, in one write(2). An
// error is a *LostError, and the writer stays usable.
func (w *Writer) Commit() error {
	if len(w.pending.ends) == 0 && len(w.changed) == 0 {
		return nil
	}
	if err := w.commit(w.footerDue(), false); err != nil {
		return err
	}
	w.syncLater()
	return nil
}

func (w *Writer) begin() {
	if w.buf == nil {
		w.buf = make([]byte, schema.FrameSize, 1<<20)
	}
	w.buf = w.buf[:schema.FrameSize]
	w.pending.truncate()
}

// commit builds and writes the frame. With last it may use the reserve.
func (w *Writer) commit(withFooter, last bool) error {
	rows := w.pending.rows
	undo := [3]int{len(w.groups.thrift), len(w.groups.ends), int(w.groups.rows)}
	frame := schema.Frame{Nonce: w.nonce, Seq: w.seq}
	w.appendCheckpoint(&frame)
	body := len(w.buf)
	w.groups.add(w.pending.thrift, rows)
	w.groups.ends = append(w.groups.ends[:undo[1]], offsets(w.pending.ends, undo[0])...)

	footerOff := w.footerOff
	if withFooter {
		footerOff = w.end + int64(body)
		w.buf = w.footer.Append(w.buf, w.groups.rows, len(w.groups.ends), w.groups.thrift, w.keyValues())
		frame.Footer = uint32(len(w.buf) - body)
		frame.FooterCRC = crc32.Checksum(w.buf[body:], schema.Castagnoli)
	}
	reach := w.end + int64(len(w.buf)) - footerOff
	w.buf = append(binary.LittleEndian.AppendUint32(w.buf, uint32(reach)), schema.Magic...)
	frame.Append(w.buf[:0])

	size := int64(len(w.buf))
	err := w.writeAt(w.buf, last)
	w.begin()
	if err != nil {
		w.groups.thrift, w.groups.ends, w.groups.rows = w.groups.thrift[:undo[0]], w.groups.ends[:undo[1]], int64(undo[2])
		return &LostError{Rows: rows, Err: err}
	}
	w.end += size
	w.seq++
	clear(w.changed)
	w.noteFooter(footerOff, int64(frame.Footer))
	return nil
}

func offsets(ends []int, base int) []int {
	for i := range ends {
		ends[i] += base
	}
	return ends
}

// appendCheckpoint ends the body of the frame.
func (w *Writer) appendCheckpoint(f *schema.Frame) {
	start := len(w.buf)
	if w.seq == 0 {
		w.checkpoint = w.footer.Append(w.checkpoint[:0], 0, 0, nil, nil)
		w.buf = schema.AppendSection(w.buf, schema.SectionBase, w.checkpoint)
	}
	if len(w.changed) > 0 {
		w.buf = schema.AppendSection(w.buf, schema.SectionMeta, w.changedJSON())
	}
	from := 0
	for _, end := range w.pending.ends {
		w.buf = schema.AppendSection(w.buf, schema.SectionRowGroup, w.pending.thrift[from:end])
		from = end
	}
	f.Body, f.Checkpoint = uint64(len(w.buf)-schema.FrameSize), uint32(len(w.buf)-start)
	f.BodyCRC = crc32.Checksum(w.buf[schema.FrameSize:], schema.Castagnoli)
}

func (w *Writer) changedJSON() []byte {
	b := append(w.checkpoint[:0], '{')
	for i, key := range slices.Sorted(maps.Keys(w.changed)) {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(key) // a string always can
		b = append(append(append(b, name...), ':'), w.meta[key]...)
	}
	w.checkpoint = append(b, '}')
	return w.checkpoint
}

func (w *Writer) keyValues() []encode.KeyValue {
	kv := make([]encode.KeyValue, 0, len(w.meta))
	for _, key := range slices.Sorted(maps.Keys(w.meta)) {
		kv = append(kv, encode.KeyValue{Key: key, Value: w.meta[key]})
	}
	return kv
}
