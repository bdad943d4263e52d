package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
	"netrec/schema"
)

// walker collects the row groups and the metadata of netrec's own files from
// the checkpoints of their commits, front to back. It never looks for the
// footer from the end: a string in a column can look like one.
type walker struct {
	f    io.ReaderAt
	size int64
	o    *Options
	buf  []byte

	table   *parquetfile.Table
	inflate parquetfile.Inflater // of row groups in checkpoints

	nonce    [schema.NonceSize]byte
	mark     []byte // how every frame of this file begins
	leaves   []parquetfile.Leaf
	searched bool // footers were searched for the schema in vain
	groups   []group
	kv       map[string][]byte
	problems problems

	commits int   // intact ones
	off     int64 // where the next frame is due
	seq     uint64
	last    schema.Frame // newest intact commit
	lastOff int64
}

func newWalker(f io.ReaderAt, size int64, o *Options) *walker {
	return &walker{f: f, size: size, o: o, table: newTable(o), buf: make([]byte, min(size, 1<<20)), kv: map[string][]byte{}, off: int64(schema.FileStart)}
}

// detect reports whether the file is a sequence of commits. A damaged first
// commit does not hide the others.
func (w *walker) detect(head []byte) (bool, error) {
	if len(head) < schema.FileStart {
		return false, nil
	}
	copy(w.nonce[:], head[len(schema.Magic):])
	w.setMark()
	first := head[schema.FileStart:]
	if len(first) == schema.FrameSize {
		// The nonce of an intact first frame counts, should the file's own be damaged.
		var inner [schema.NonceSize]byte
		copy(inner[:], first[8:])
		if _, err := schema.ParseFrame(first, inner, 0); err == nil {
			if inner != w.nonce {
				w.problems.add("the nonce at the start of the file is damaged")
				w.nonce = inner
				w.setMark()
			}
			return true, nil
		}
	}
	if n := min(8, len(first)); n > 0 && bytes.Equal(first[:n], w.mark[:n]) {
		return true, nil
	}
	off, _, err := w.search(w.off, min(w.size, detectWindow), 0)
	return off >= 0, err
}

// detectWindow is how far a second commit is looked for when the first is not
// recognised; commits are a second or a few MiB apart.
const detectWindow = 64 << 20

// setMark takes the constant start of a frame header from the encoder itself.
func (w *walker) setMark() {
	w.mark = (&schema.Frame{Nonce: w.nonce}).Append(nil)[:8+schema.NonceSize]
}

// walk reads every commit.
func (w *walker) walk() error {
	for w.off < w.size {
		fr, err := w.frame(w.off, w.seq)
		switch {
		case err != nil && !errors.Is(err, schema.ErrFrame):
			return err
		case err != nil:
			again, err := w.resume(err)
			if err != nil {
				return err
			}
			if !again {
				return w.finish()
			}
			continue
		case int64(fr.Body) > w.size-w.off-schema.FrameSize:
			return w.finish()
		}
		if err := w.commit(w.off, &fr); err != nil {
			if errors.Is(err, ErrLimit) || errors.Is(err, ErrColumn) || errors.Is(err, ErrNotCapture) ||
				errors.Is(err, ErrNewer) || errors.Is(err, errRead) {
				return err
			}
			w.problems.add("commit %s is damaged (%v): %s at offset %s were left out", words.Thousands(int64(fr.Seq)), err,
				words.Count(int64(fr.Body), "byte"), words.Thousands(w.off))
		} else {
			w.commits++
			w.last, w.lastOff = fr, w.off
		}
		w.off += fr.Len()
		w.seq++
	}
	return w.finish()
}

// errRead marks errors of the file system, which are not the file's fault.
var errRead = errors.New("reading")

func (w *walker) frame(off int64, seq uint64) (schema.Frame, error) {
	var b [schema.FrameSize]byte
	if off >= w.size {
		return schema.Frame{}, schema.ErrFrame
	}
	n, err := w.f.ReadAt(b[:min(int64(len(b)), w.size-off)], off)
	if err != nil && err != io.EOF {
		return schema.Frame{}, fmt.Errorf("%w: %w", errRead, err)
	}
	return schema.ParseFrame(b[:n], w.nonce, seq)
}

// resume goes on at the next intact frame header after a damaged one, if there
// is one. The nonce, which nobody knew before the recording, keeps contents of
// the file from posing as a frame.
func (w *walker) resume(why error) (bool, error) {
	off, seq, err := w.search(w.off+1, w.size, w.seq)
	if off < 0 || err != nil {
		return false, err
	}
	w.problems.add("%s at offset %s are damaged (%v) and were left out", words.Count(off-w.off, "byte"), words.Thousands(w.off), why)
	w.off, w.seq = off, seq
	return true, nil
}

// search finds the first frame header in [off, end) whose sequence is at least seq.
func (w *walker) search(off, end int64, seq uint64) (int64, uint64, error) {
	for off+schema.FrameSize <= end {
		b := w.buf[:min(int64(len(w.buf)), end-off)]
		if _, err := w.f.ReadAt(b, off); err != nil {
			return -1, 0, fmt.Errorf("%w: %w", errRead, err)
		}
		for at := 0; ; at++ {
			k := bytes.Index(b[at:], w.mark)
			if k < 0 || at+k+schema.FrameSize > len(b) {
				break
			}
			at += k
			s := binary.LittleEndian.Uint64(b[at+len(w.mark):])
			if _, err := schema.ParseFrame(b[at:], w.nonce, s); err == nil && s >= seq {
				return off + int64(at), s, nil
			}
		}
		if off+int64(len(b)) >= end {
			break
		}
		off += int64(len(b)) - schema.FrameSize + 1 // a header may lie across pieces
	}
	return -1, 0, nil
}
