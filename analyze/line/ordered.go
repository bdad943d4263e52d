package line

// maxOrdered is how many lines wait for their outcome at once.
const maxOrdered = 1 << 16

// InOrder writes lines in the order in which they were added, each when its outcome is
// known: a connect that takes a minute holds back those after it, up to a limit.
type InOrder[T any] struct {
	Write func(*T)
	queue []orderedLine[T]
	base  int64 // id of the first in the queue
}

type orderedLine[T any] struct {
	v     T
	ready bool
}

// Add takes a line and gives its id, by which it is completed.
func (o *InOrder[T]) Add(v T, ready bool) int64 {
	o.queue = append(o.queue, orderedLine[T]{v, ready})
	id := o.base + int64(len(o.queue)) - 1
	o.flush(len(o.queue) > maxOrdered)
	return id
}

// Complete sets what was missing; a line that is written already stays as it is.
func (o *InOrder[T]) Complete(id int64, set func(*T)) {
	if id < o.base {
		return
	}
	l := &o.queue[id-o.base]
	set(&l.v)
	l.ready = true
	o.flush(false)
}

// flush writes the lines at the front that are complete; when full, at least one.
func (o *InOrder[T]) flush(full bool) {
	n := 0
	for ; n < len(o.queue) && (o.queue[n].ready || full); n++ {
		full = full && o.queue[n].ready
		o.Write(&o.queue[n].v)
	}
	o.base += int64(n)
	if o.queue = o.queue[n:]; len(o.queue) == 0 {
		o.queue = nil
	}
}

// Rest writes all that still wait.
func (o *InOrder[T]) Rest() {
	for i := range o.queue {
		o.Write(&o.queue[i].v)
	}
	o.base += int64(len(o.queue))
	o.queue = nil
}
