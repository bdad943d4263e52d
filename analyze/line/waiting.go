package line

import "netrec/analyze/agg"

// Limits on how long a line waits for what is learnt of its socket.
const (
	maxWaiting = 4096
	maxWaitNS  = 1e9
)

// Waiting keeps lines back, in their order, until the ends and the owner of their
// socket are known: the kernel fills in ports late, and the process that accepts a
// connection is seen after the handshake.
type Waiting[T any] struct {
	Line  func(*agg.Socket, int64, T)
	Ready func(T) bool // nil where only the socket is waited for
	Whole bool         // wait for the end of the socket's life, however long
	queue []waitingLine[T]
	front int // lines before it were written
}

type waitingLine[T any] struct {
	sock *agg.Socket // nil once its life is over
	is   agg.Socket  // what is known of it
	ts   int64
	v    T
}

// Add takes a line about a socket.
func (w *Waiting[T]) Add(s *agg.Socket, ts int64, v T) {
	w.queue = append(w.queue, waitingLine[T]{s, *s, ts, v})
	w.flush(ts, len(w.queue)-w.front > maxWaiting)
}

// Pass lets a line that has no socket follow those before it.
func (w *Waiting[T]) Pass(ts int64, v T) {
	w.queue = append(w.queue, waitingLine[T]{nil, agg.Socket{}, ts, v})
	w.flush(ts, len(w.queue)-w.front > maxWaiting)
}

// Ended takes what is known of a socket before it is forgotten.
func (w *Waiting[T]) Ended(s *agg.Socket) {
	for i := w.front; i < len(w.queue); i++ {
		if l := &w.queue[i]; l.sock == s && l.is.Serial == s.Serial {
			l.sock, l.is = nil, *s
		}
	}
}

// flush writes the lines at the front whose socket is known or that waited enough;
// when full, at least one.
func (w *Waiting[T]) flush(now int64, full bool) {
	wait := int64(maxWaitNS)
	if w.Whole {
		wait = 1 << 60
	}
	for ; w.front < len(w.queue); w.front++ {
		l := &w.queue[w.front]
		if l.sock != nil && l.sock.Serial == l.is.Serial {
			l.is = *l.sock
		} else {
			l.sock = nil
		}
		known := (l.sock == nil || !w.Whole && l.is.Sure() && l.is.Pid != 0) && (w.Ready == nil || w.Ready(l.v))
		if !known && now-l.ts < wait {
			if !full {
				break
			}
			full = false
		}
		w.Line(&l.is, l.ts, l.v)
	}
	if w.front > len(w.queue)/2 { // not for every line: it copies all that wait
		w.queue, w.front = append(w.queue[:0], w.queue[w.front:]...), 0
	}
}

// Rest writes all that still wait.
func (w *Waiting[T]) Rest() { w.flush(1<<62, false) }
