package engine

import (
	"netrec/analyze/agg"
	"netrec/analyze/scan"
)

// Busy counts the rows of each process. What a call made is its task's; what is about a
// socket belongs to the socket's owner, who may be known later than the row. Packets of
// nobody's socket are nobody's: the task on the CPU has no part in them.
type Busy[P comparable] struct {
	in    *Input
	make  func(pid int64, comm string) P
	procs agg.Top[P]
	socks agg.PerSocket[int64]

	all  int64
	told int64

	Skb scan.Int
}

// NewBusy counts; process makes the key of a process.
func NewBusy[P comparable](in *Input, process func(pid int64, comm string) P) *Busy[P] {
	in.askTask()
	b := &Busy[P]{in: in, make: process}
	in.Bind(b)
	in.OnEnd(func(s *agg.Socket) {
		if s.Pid != 0 {
			b.add(s.Pid, s.Comm, *b.socks.Of(s))
		}
	})
	return b
}

func (b *Busy[P]) add(pid int64, comm string, n int64) {
	if pid != 0 && n > 0 {
		b.told += n
		b.procs.Add(b.make(pid, comm), n)
	}
}

// Add counts a row.
func (b *Busy[P]) Add(r *Row) {
	b.all++
	task := byTask(r.Row, r.Str(b.in.task.Ctx))
	switch {
	case task && calls[r.Event.ID]:
		b.add(r.Int(b.in.task.Pid), r.Str(b.in.task.Comm), 1)
	case r.Sock != nil:
		*b.socks.Of(r.Sock)++
	case task && r.Int(b.Skb) == 0:
		b.add(r.Int(b.in.task.Pid), r.Str(b.in.task.Comm), 1)
	}
}

// Best are the n processes with most rows.
func (b *Busy[P]) Best(n int, order func(a, b P) int) []agg.Entry[P] { return b.procs.Best(n, order) }

// Nobody is how many rows belong to no process that is known.
func (b *Busy[P]) Nobody() int64 { return b.all - b.told }
