package capture

import (
	"encoding/binary"
	"hash/crc32"

	"netrec/record/encode"
	"netrec/schema"
)

// Readers that know nothing of commits start at the trailer. While the file is written, that
// leads to a growing footer (see encode.Footer), which has room for the row groups of commits
// to come: each commit writes its own there and nothing else, so a footer is never older than
// the commit, and none is repeated. A new one is due when the room is used up, with as much
// room as there are groups by then, so that all of them together are a few times the last at
// most; or when a reader would have to go over too much that came after it.
const (
	leastRoom   = 64 << 10 // bytes
	commitsRoom = 4        // at least for so many commits like the last one
	leastReach  = 16 << 20 // bytes that a reader may have to skip, in any case
	reachShare  = 20       // or so many times what it has to read
	mostReach   = 1 << 30
)

// Only whole blocks give space back, and one is not worth a call.
const (
	punchBlock   = 4096 // bytes
	punchAtLeast = 2 * punchBlock
)

type span struct{ off, n int64 }

// growing is where the growing footer lies.
type growing struct {
	all   span
	start int64 // of the structure; what comes before is room. 0 for no footer
	head  int   // bytes from there to the first row group
	stale bool  // row groups found no room
}

func (g *growing) room() int64 { return g.start - g.all.off }

// grow puts the row groups of the commit into the footer. It returns where the footer begins
// then: what is written takes effect with a trailer that leads there.
func (w *Writer) grow() (next growing) {
	next = w.open
	if next.start == 0 || w.pending.n == 0 {
		return next
	}
	n := w.written.n + w.pending.n
	if next.stale || n > encode.MaxGrowing {
		next.stale = true
		return next
	}
	b := w.footer.AppendGrowth(w.scratch[:0], w.written.rows+w.pending.rows, n, w.pending.thrift, next.head)
	w.scratch = b
	if int64(len(b)) > next.room() {
		next.stale = true
		return next
	}
	next.start -= int64(len(b))
	if _, err := w.file.WriteAt(b, next.start); err != nil {
		next = w.open
		next.stale = true
		return next
	}
	next.head = len(w.footer.AppendGrowingStart(b[:0], w.written.rows+w.pending.rows, n))
	return next
}

// renewDue reports whether the next commit, if it is like the last, needs another footer.
func (w *Writer) renewDue(last int) bool {
	since := w.end - w.open.all.off - w.open.all.n
	reach := min(mostReach, max(leastReach, reachShare*w.open.all.n))
	return w.open.start == 0 || w.open.stale || w.open.room() < int64(last) || since >= reach
}

// renew writes a growing footer. The file is as before if that is not possible, and stock
// readers then see what they saw.
func (w *Writer) renew(last int) error {
	f := tail{
		room:  max(leastRoom, int64(commitsRoom*last), w.written.bytes),
		start: w.footer.AppendGrowingStart(nil, w.written.rows, w.written.n),
		end:   w.footer.AppendGrowingEnd(nil, w.keyValues()),
	}
	w.begin()
	old := w.open
	at, err := w.finish(&f, false)
	if err != nil {
		return err
	}
	if old.start != 0 {
		w.dead = append(w.dead, old.all)
	}
	n := f.len(w.written.bytes)
	w.open = growing{all: span{at, n}, start: at + f.room, head: len(f.start)}
	return nil
}

// seal writes the footer of a file that is whole, in the order that all writers have.
func (w *Writer) seal() error {
	f := tail{start: w.footer.AppendStart(nil, w.written.rows, w.written.n), end: w.footer.AppendEnd(nil, w.keyValues())}
	w.begin()
	w.appendCheckpoint(nil)
	if _, err := w.finish(&f, true); err != nil {
		return err
	}
	clear(w.changed)
	w.dead = append(w.dead, w.open.all)
	return nil
}

// tail is a footer around the row groups so far.
type tail struct {
	room       int64
	start, end []byte
}

func (f *tail) len(groups int64) int64 {
	return f.room + int64(len(f.start)) + groups + int64(len(f.end))
}

// finish writes a frame with a footer, which begins at the returned offset. It may be long, so
// it is not written at once; stock readers find the footer before it until all of it is there.
func (w *Writer) finish(f *tail, last bool) (int64, error) {
	body := len(w.buf) - schema.FrameSize
	at := w.end + int64(len(w.buf))
	total := f.len(w.written.bytes)
	end := at + total
	frame := schema.Frame{Nonce: w.nonce, Seq: w.seq, Body: uint64(body), Checkpoint: uint32(body), Footer: uint32(total),
		Room: uint32(f.room), BodyCRC: crc32.Checksum(w.buf[schema.FrameSize:], schema.Castagnoli)}
	err := w.eachPart(f, func(b []byte) error {
		frame.FooterCRC = crc32.Update(frame.FooterCRC, schema.Castagnoli, b)
		return nil
	})
	if err == nil {
		err = w.ready(end+schema.TrailerSize-w.end, last)
	}
	if err == nil {
		err = w.undone(w.writeTail(f, &frame, at, end))
	}
	if err != nil {
		return 0, err
	}
	w.end, w.seq = end+schema.TrailerSize, w.seq+1
	return at, nil
}

// writeTail writes the parts of a frame with a footer.
func (w *Writer) writeTail(f *tail, frame *schema.Frame, at, end int64) error {
	if w.open.start != 0 {
		if _, err := w.file.WriteAt(trailer(end-w.open.start), end); err != nil {
			return err
		}
	}
	frame.Append(w.buf[:0])
	if _, err := w.file.WriteAt(w.buf, w.end); err != nil {
		return err
	}
	off := at + f.room
	err := w.eachPart(f, func(b []byte) error {
		_, err := w.file.WriteAt(b, off)
		off += int64(len(b))
		return err
	})
	if err == nil {
		_, err = w.file.WriteAt(trailer(end-at-f.room), end)
	}
	return err
}

// eachPart calls use with the footer, piece by piece, without its room.
func (w *Writer) eachPart(f *tail, use func(b []byte) error) error {
	if err := use(f.start); err != nil {
		return err
	}
	if err := w.written.each(w.file, use); err != nil {
		return err
	}
	return use(f.end)
}

// trailer ends the file; the footer begins reach bytes before it.
func trailer(reach int64) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(reach)), schema.Magic...)
}

// punchDead gives back the space of footers that a newer one has replaced. Their
// frames stay, so the file can still be walked. Not every file system can.
func (w *Writer) punchDead() {
	for _, s := range w.dead {
		from := (s.off + punchBlock - 1) / punchBlock * punchBlock
		to := (s.off + s.n) / punchBlock * punchBlock
		if to-from < punchAtLeast {
			continue
		}
		if w.file.Punch(from, to-from) != nil {
			return
		}
	}
}
