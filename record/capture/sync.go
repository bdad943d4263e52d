package capture

import (
	"errors"
	"fmt"
	"os"
	"time"
)

const syncEvery = 5 * time.Second

// syncer makes the file durable now and then, beside the writer's work.
type syncer struct {
	dir  *os.File // to sync once, for the file's name; nil after that
	at   time.Time
	done chan error // of the sync under way, nil for none
	err  error      // the first one
}

// syncLater starts an fdatasync if one is due and none is under way.
func (w *Writer) syncLater() {
	s := &w.sync
	if w.now().Sub(s.at) < syncEvery {
		return
	}
	if s.done != nil {
		select {
		case err := <-s.done:
			s.finish(err)
		default:
			return
		}
	}
	s.at, s.done = w.now(), make(chan error, 1)
	go func() { s.done <- w.syncNow() }()
}

func (s *syncer) finish(err error) {
	s.done = nil
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("syncing capture: %w", err)
	}
}

// wait ends the sync under way.
func (s *syncer) wait() {
	if s.done != nil {
		s.finish(<-s.done)
	}
}

// syncNow runs once at a time.
func (w *Writer) syncNow() error {
	err := w.file.Sync()
	if w.sync.dir != nil {
		err = errors.Join(err, syncDir(w.sync.dir), w.sync.dir.Close())
		w.sync.dir = nil
	}
	return err
}

// Close writes the last footer, gives unused space back and syncs. Rows that were
// added and not committed are written with it; on a full disk only a few have room in
// the reserve, such as those that say what was lost.
func (w *Writer) Close() error {
	if w.written.zip == nil {
		return os.ErrClosed
	}
	var errs []error
	if w.pending.n > 0 {
		errs = append(errs, w.commit(len(w.buf) <= lastRows))
	}
	errs = append(errs, w.seal())
	w.written.close()
	w.buf, w.scratch, w.pending.thrift = nil, nil, nil // how much there was may still be asked
	w.sync.wait()
	if err := w.file.Truncate(w.end); err != nil {
		errs = append(errs, fmt.Errorf("releasing the reserve: %w", err))
	}
	w.sync.finish(w.syncNow()) // before the old footers go
	w.punchDead()
	w.sync.finish(w.file.Sync())
	return errors.Join(append(errs, w.sync.err, w.file.Close())...)
}
