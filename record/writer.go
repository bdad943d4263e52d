package record

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"netrec/record/capture"
	"netrec/schema"
)

// writer encodes piles and commits them, off the drain loop. It is the only user of
// the capture file while it runs.
type writer struct {
	in   chan *pile
	free chan *pile
	pool pool // of the piles
	done chan struct{}

	file *capture.Writer
	enc  encoder
	acct *account
	loan func(ids []uint32) // takes back the strings of a pile; nil in tests

	objects func(known int) []schema.Object // files of code, if more than those known; nil in tests
	listed  int                             // of them in this file

	facts atomic.Pointer[map[string]any] // metadata for the next commit, by key; nil for none

	done0  int64 // bytes and rows of the files before this one
	rows0  int64
	shares shares                        // of the account, by file
	budget atomic.Pointer[schema.Budget] // what it has left out so far; nil for none. Not changed once it is here

	size, rows atomic.Int64 // of all files, for others to see
	now        atomic.Int64 // bytes of this file
	full       atomic.Bool  // it has reached the size that readers like
	turned     atomic.Int64 // files begun after the first
	closing    sync.WaitGroup
	pace       pace
	waits      capture.Waits
	unsaid     unsaid                // losses that no row in the file tells of; others read it after done
	trouble    atomic.Pointer[error] // why the last lost commit was lost
	lostNow    atomic.Int64          // commits lost so far
	unended    atomic.Pointer[error] // why a file before this one, the last of them, has no proper end
}

func startWriter(file *capture.Writer, acct *account, names *resolver, enc encoder, cpus int, within time.Duration) *writer {
	w := &writer{in: make(chan *pile, piles-2), free: make(chan *pile, piles), done: make(chan struct{}), file: file, enc: enc, acct: acct, loan: names.giveBack, objects: names.objects,
		unsaid: unsaid{}, shares: newShares(), pace: pace{within: cmp.Or(within, DefaultWithin)}}
	for range piles {
		w.free <- newPile(cpus, &w.pool)
	}
	w.size.Store(file.Taken())
	file.Watch(&w.waits)
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
			w.shares.note(p)
		}
		if !p.due.IsZero() {
			w.pace.note(time.Since(p.due))
		}
		if p.then != nil {
			w.turn(p.then)
		}
		w.size.Store(w.done0 + w.file.Taken())
		w.now.Store(w.file.Size())
		w.full.Store(w.file.Full())
		w.rows.Store(w.rows0 + w.file.Rows())
		if p.then != nil { // only now is what they say of the new file
			w.turned.Add(1)
		}
		if w.loan != nil {
			w.loan(p.lent)
		}
		p.reset()
		w.free <- p
	}
}

// turn ends a file and goes on in the next one. The old one is closed beside the
// writer's work: that waits for the disk.
func (w *writer) turn(t *turn) {
	old := w.file
	share := w.shares.end(w.acct)
	w.done0, w.rows0 = w.done0+old.Taken(), w.rows0+old.Rows()
	w.file, w.listed = t.file, 0
	w.file.Watch(&w.waits)
	w.closing.Go(func() {
		errs := []error{old.Set(schema.KeyLosses, share)}
		for key, v := range t.last {
			errs = append(errs, old.Set(key, v))
		}
		if err := errors.Join(append(errs, old.Close())...); err != nil {
			w.unended.Store(&err)
		}
		if err := t.after(); err != nil {
			w.trouble.Store(&err)
		}
	})
}

func (w *writer) commit(p *pile) error {
	if err := w.unsaid.say(p); err != nil {
		return err
	}
	if err := w.add(p); err != nil {
		return err
	}
	if err := w.listObjects(); err != nil {
		return err
	}
	if err := w.addFacts(); err != nil {
		return err
	}
	if w.acct.lost() > 0 { // only then is the account worth its place in every commit
		if err := w.file.Set(schema.KeyLosses, w.shares.rest(w.acct.counts())); err != nil {
			return err
		}
	}
	if b := w.budget.Load(); b != nil {
		if err := w.file.Set(schema.KeyBudget, b); err != nil {
			return err
		}
	}
	return w.file.Commit()
}

// addFacts puts what became known since the last commit into the metadata.
func (w *writer) addFacts() error {
	facts := w.facts.Swap(nil)
	if facts == nil {
		return nil
	}
	for key, v := range *facts {
		if err := w.file.Set(key, v); err != nil {
			return err
		}
	}
	return nil
}

// listObjects puts the files into the metadata that frames of this commit are in: they
// were met when its stacks were named.
func (w *writer) listObjects() error {
	if w.objects == nil {
		return nil
	}
	list := w.objects(w.listed)
	if len(list) == 0 {
		return nil
	}
	w.listed = len(list)
	return w.file.Set(schema.KeyObjects, list)
}

// add encodes a pile into row groups of the next commit.
func (w *writer) add(p *pile) error {
	defer w.enc.shed()
	w.enc.Hurry = p.hurry
	hot, mixed := p.batches()
	for _, parts := range hot {
		if err := w.file.Add(w.enc.Encoder, parts...); err != nil {
			return fmt.Errorf("encode %s: %w", parts[0].Event.Name, err)
		}
		p.forget(parts[0].Event.ID)
	}
	if len(mixed) > 0 {
		if err := w.file.Add(w.enc.Encoder, mixed...); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
	}
	return nil
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

// push hands a pile over when the writer has room, and returns an empty one.
func (w *writer) push(p *pile) *pile {
	w.in <- p
	return <-w.free
}

// finish commits the last pile and waits until all is written or counted as lost.
func (w *writer) finish(p *pile) {
	w.in <- p
	close(w.in)
	<-w.done
	w.closing.Wait()
	w.pool.release()
}
