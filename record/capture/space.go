package capture

import (
	"errors"
	"fmt"
)

const (
	lastCommit = 512 << 10      // bytes kept free for the last commit, beside its footer
	lastRows   = lastCommit / 4 // bytes of rows for which Close uses that room
	claimStep  = 4 << 20        // bytes claimed ahead, so that not every commit asks
)

// writeAt puts b at the end of the file, whole or not at all; last uses the room for Close.
func (w *Writer) writeAt(b []byte, last bool) error {
	if err := w.ready(int64(len(b)), last); err != nil {
		return err
	}
	_, err := w.file.WriteAt(b, w.end)
	return w.undone(err)
}

// ready says whether n bytes can be written at the end of the file. Space is claimed
// first, with a reserve behind it, so that a full disk is noticed before a byte is
// written and Close still has room for the last footer.
func (w *Writer) ready(n int64, last bool) error {
	if err := w.file.Still(w.end); err != nil {
		w.spoilt = true
		return err
	}
	return w.claim(n, last)
}

// undone makes the file what it was before something could not be written at its end.
func (w *Writer) undone(err error) error {
	if err == nil {
		return nil
	}
	w.claimed = w.end
	if undo := w.file.Truncate(w.end); undo != nil {
		return errors.Join(err, fmt.Errorf("cutting back to %d bytes: %w", w.end, undo))
	}
	return err
}

func (w *Writer) claim(n int64, last bool) error {
	need := w.end + n
	if !last {
		need += w.reserve()
	}
	if w.noClaim || need <= w.claimed {
		return nil
	}
	var err error
	for _, ahead := range []int64{claimStep, 0} {
		if err = w.file.Reserve(w.end, need+ahead-w.end); err == nil {
			w.claimed = need + ahead
			return nil
		}
	}
	switch {
	case last: // write into what there is
		return nil
	case full(err):
		return err
	}
	w.noClaim = true
	return nil
}

// reserve is the room Close needs: the footer with the groups so far and those
// pending, and the last metadata.
func (w *Writer) reserve() int64 {
	n := lastCommit + w.written.bytes + int64(len(w.pending.thrift))
	for _, v := range w.meta {
		n += int64(len(v))
	}
	return n
}
