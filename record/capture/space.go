package capture

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

const syncEvery = 5 * time.Second

// writeAt puts b at the end of the file, whole or not at all. Space is claimed
// first, with a reserve behind it, so that a full disk is noticed before a byte is
// written and Close still has room for the last footer; last uses that room.
func (w *Writer) writeAt(b []byte, last bool) error {
	if err := w.claim(int64(len(b)), last); err != nil {
		return err
	}
	_, err := w.file.WriteAt(b, w.end)
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
	return reserveAtRest + w.footerLen + int64(len(w.pending.thrift)+len(w.groups.thrift))
}

// syncState is shared with the goroutine that syncs.
type syncState struct {
	mu      sync.Mutex
	running bool
	dirDone bool
	err     error
}

// syncLater starts an fdatasync if one is due, beside the caller's work.
func (w *Writer) syncLater() {
	if time.Since(w.syncedAt) < syncEvery {
		return
	}
	w.sync.mu.Lock()
	defer w.sync.mu.Unlock()
	if w.sync.running {
		return
	}
	w.sync.running, w.syncedAt = true, time.Now()
	w.syncing.Add(1)
	go func() {
		defer w.syncing.Done()
		w.syncNow()
	}()
}

func (w *Writer) syncNow() {
	err := w.file.Sync()
	w.sync.mu.Lock()
	dir := w.dir != "" && !w.sync.dirDone
	w.sync.mu.Unlock()
	if dir {
		err = errors.Join(err, syncDir(w.dir))
	}
	w.sync.mu.Lock()
	defer w.sync.mu.Unlock()
	w.sync.running, w.sync.dirDone = false, true
	if err != nil && w.sync.err == nil && !errors.Is(err, syscall.EINVAL) {
		w.sync.err = fmt.Errorf("syncing capture: %w", err)
	}
}

// Close writes the last footer, gives unused space back and syncs. Rows that were
// added and not committed are tried once more.
func (w *Writer) Close() error {
	var errs []error
	if len(w.pending.ends) > 0 {
		errs = append(errs, w.commit(w.footerDue(), false))
	}
	if w.footerLen == 0 || w.stale || len(w.changed) > 0 {
		errs = append(errs, w.commit(true, true))
	}
	w.syncing.Wait()
	if err := w.file.Truncate(w.end); err != nil {
		errs = append(errs, fmt.Errorf("releasing the reserve: %w", err))
	}
	w.punchDead()
	w.syncNow()
	return errors.Join(append(errs, w.sync.err, w.file.Close())...)
}
