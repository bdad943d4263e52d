package record

import (
	"fmt"
	"sync/atomic"
	"time"

	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// writer encodes piles and commits them, off the drain loop. It is the only user of
// the capture file while it runs.
type writer struct {
	in   chan *pile
	free chan *pile
	done chan struct{}

	file *capture.Writer
	enc  *encode.Encoder
	acct *account
	next func(segment int) (*capture.Writer, error) // the file after a full one; nil in tests

	segment int
	done0   int64 // bytes and rows of the segments before this one
	rows0   int64
	stuck   error // why the next file could not be made; recording then stays in this one

	size, rows atomic.Int64 // of the file, for others to see
	pace       pace
	unsaid     unsaid                // losses that no row in the file tells of; others read it after done
	trouble    atomic.Pointer[error] // why the last lost commit was lost
	lostNow    atomic.Int64          // commits lost so far
}

func startWriter(file *capture.Writer, enc *encode.Encoder, acct *account, next func(int) (*capture.Writer, error), cpus int) *writer {
	w := &writer{in: make(chan *pile, 1), free: make(chan *pile, piles), done: make(chan struct{}), file: file, enc: enc, acct: acct, next: next,
		unsaid: unsaid{}}
	for range piles {
		w.free <- newPile(cpus)
	}
	w.size.Store(file.Size())
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	for p := range w.in {
		if err := w.commit(p); err != nil {
			w.trouble.Store(&err)
			w.lostNow.Add(1)
			w.unsaid.keep(p.data[lostEvent.ID])
			addTo(w.acct.dropped, p.rows)
		} else {
			clear(w.unsaid)
			addTo(w.acct.recorded, p.rows)
		}
		if !p.due.IsZero() {
			w.pace.note(time.Since(p.due))
		}
		w.rotate()
		w.size.Store(w.done0 + w.file.Size())
		w.rows.Store(w.rows0 + w.file.Rows())
		p.reset()
		w.free <- p
	}
}

// rotate goes on in a new file when this one has reached the size that readers like.
func (w *writer) rotate() {
	if w.next == nil || w.stuck != nil || !w.file.Full() {
		return
	}
	file, err := w.next(w.segment + 1)
	if err != nil {
		w.stuck = err
		w.trouble.Store(&err)
		return
	}
	if err := w.file.Close(); err != nil {
		w.trouble.Store(&err)
	}
	w.done0, w.rows0 = w.done0+w.file.Size(), w.rows0+w.file.Rows()
	w.file, w.segment = file, w.segment+1
}

func (w *writer) commit(p *pile) error {
	if err := w.unsaid.say(p); err != nil {
		return err
	}
	if err := w.add(p); err != nil {
		return err
	}
	if w.lossy() {
		if err := w.file.Set(schema.KeyLosses, w.acct.counts()); err != nil {
			return err
		}
	}
	return w.file.Commit()
}

// add encodes a pile into row groups of the next commit.
func (w *writer) add(p *pile) error {
	hot, mixed := p.batches()
	for _, b := range hot {
		if err := w.file.Add(w.enc, b); err != nil {
			return fmt.Errorf("encode %s: %w", b.Event.Name, err)
		}
	}
	if len(mixed) > 0 {
		if err := w.file.Add(w.enc, mixed...); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
	}
	return nil
}

// lossy reports whether anything was lost so far: only then is the account worth
// its place in every commit.
func (w *writer) lossy() bool {
	for _, c := range w.acct.counts() {
		if c.Lost() > 0 {
			return true
		}
	}
	return false
}

// offer hands a pile over if the writer has room, and returns an empty one; else
// it returns the same.
func (w *writer) offer(p *pile) *pile {
	select {
	case next := <-w.free:
		select {
		case w.in <- p:
			return next
		default:
			w.free <- next
		}
	default:
	}
	return p
}

// finish commits the last pile and waits until all is written or counted as lost.
func (w *writer) finish(p *pile) {
	w.in <- p
	close(w.in)
	<-w.done
}
