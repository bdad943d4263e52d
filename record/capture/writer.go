package capture

import (
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
	maxGroups = 4096 - 64 // some more are written until the next file is ready
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
	written written
	meta    map[string]string // key to JSON

	footer  *encode.Footer
	open    growing // the footer that stock readers find
	dead    []span  // those before
	scratch []byte

	sync syncer
}

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

// Size is the length of the file.
func (w *Writer) Size() int64 { return w.end }

// Taken is how much of the file stays: footers that a newer one has replaced are given back when
// the file is closed, and read as zeros that take no space.
func (w *Writer) Taken() int64 {
	n := w.end
	for _, s := range w.dead {
		n -= s.n
	}
	if len(w.dead) == 0 || w.dead[len(w.dead)-1] != w.open.all {
		n -= w.open.all.n
	}
	return n
}

// Rows is how many rows the file holds.
func (w *Writer) Rows() int64 { return w.written.rows }

// Full reports that the segment should be closed and the next one begun.
func (w *Writer) Full() bool {
	return w.spoilt || w.written.n >= maxGroups || w.end >= maxBytes || w.now().Sub(w.started) >= maxAge
}

// Commit writes what was added and set since the last one, in one write(2). An
// error is a *LostError, and the writer stays usable.
func (w *Writer) Commit() error {
	if w.pending.n == 0 && len(w.changed) == 0 {
		return nil
	}
	size := len(w.pending.thrift)
	if err := w.commit(false); err != nil {
		return err
	}
	if w.renewDue(size) {
		_ = w.renew(size) // the next commit tries again
	}
	w.syncLater()
	return nil
}

// The commit being built starts with this much memory, and an unusual one is not kept for the next.
const (
	usualCommit = 1 << 20
	keptCommit  = 4 * usualCommit
)

func (w *Writer) begin() {
	if w.buf == nil || cap(w.buf) > keptCommit {
		w.buf = make([]byte, schema.FrameSize, usualCommit)
	}
	w.buf = w.buf[:schema.FrameSize]
	w.pending.truncate()
}

// commit builds and writes the frame. With last it may use the reserve.
func (w *Writer) commit(last bool) error {
	rows := w.pending.rows
	var packed []byte
	if w.pending.n > 0 {
		packed = w.written.pack(&w.pending)
	}
	n := w.appendCheckpoint(packed)
	at := w.end + int64(len(w.buf)-len(packed))
	frame := schema.Frame{Nonce: w.nonce, Seq: w.seq, Body: uint64(len(w.buf) - schema.FrameSize), Checkpoint: uint32(n),
		BodyCRC: crc32.Checksum(w.buf[schema.FrameSize:], schema.Castagnoli)}
	frame.Append(w.buf[:0])
	open := w.grow()
	reach := int64(0) // the first commit has a footer only after it
	if open.start != 0 {
		reach = w.end + int64(len(w.buf)) - open.start
	}
	w.buf = append(w.buf, trailer(reach)...)

	size := int64(len(w.buf))
	err := w.writeAt(w.buf, last)
	if err == nil {
		w.end += size
		w.seq++
		w.open = open
		w.written.add(&w.pending, packed, at)
		clear(w.changed)
	}
	w.begin()
	if err != nil {
		return &LostError{Rows: rows, Err: err}
	}
	return nil
}

// appendCheckpoint ends the body of the frame, with row groups that are packed, at its end. It
// returns the checkpoint's length.
func (w *Writer) appendCheckpoint(packed []byte) int {
	start := len(w.buf)
	if w.seq == 0 {
		w.scratch = w.footer.AppendBase(w.scratch[:0])
		w.buf = schema.AppendSection(w.buf, schema.SectionBase, w.scratch)
	}
	if len(w.changed) > 0 {
		w.buf = schema.AppendSection(w.buf, schema.SectionMeta, w.changedJSON())
	}
	if packed != nil {
		w.buf = schema.AppendSection(w.buf, schema.SectionGroups, packed)
	}
	return len(w.buf) - start
}

func (w *Writer) changedJSON() []byte {
	b := append(w.scratch[:0], '{')
	for i, key := range slices.Sorted(maps.Keys(w.changed)) {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(key) // a string always can
		b = append(append(append(b, name...), ':'), w.meta[key]...)
	}
	w.scratch = append(b, '}')
	return w.scratch
}

func (w *Writer) keyValues() []encode.KeyValue {
	kv := make([]encode.KeyValue, 0, len(w.meta))
	for _, key := range slices.Sorted(maps.Keys(w.meta)) {
		kv = append(kv, encode.KeyValue{Key: key, Value: w.meta[key]})
	}
	return kv
}
