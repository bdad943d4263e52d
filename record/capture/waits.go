package capture

import (
	"sync/atomic"
	"time"
)

// Waits is since when somebody has been waiting for the disk; nobody where it is nil.
type Waits struct{ since atomic.Int64 } // Unix ns, 0 for not

// Begin and End are around what waits for the disk.
func (w *Waits) Begin() {
	if w != nil {
		w.since.Store(time.Now().UnixNano())
	}
}

// End is the disk's answer.
func (w *Waits) End() {
	if w != nil {
		w.since.Store(0)
	}
}

// For is how long the disk has not answered.
func (w *Waits) For(now time.Time) time.Duration {
	if since := w.since.Load(); since != 0 {
		return now.Sub(time.Unix(0, since))
	}
	return 0
}

// Watch notes in waits when a write to the file waits for the disk.
func (w *Writer) Watch(waits *Waits) {
	if d, ok := w.file.(*disk); ok {
		d.waits = waits
	}
}

// WriteAt is what a disk that hangs keeps.
func (d *disk) WriteAt(b []byte, off int64) (int, error) {
	d.waits.Begin()
	defer d.waits.End()
	return d.File.WriteAt(b, off)
}

// ReadAt is the same for what was written before.
func (d *disk) ReadAt(b []byte, off int64) (int, error) {
	d.waits.Begin()
	defer d.waits.End()
	return d.File.ReadAt(b, off)
}
