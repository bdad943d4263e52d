package turns

import (
	"cmp"
	"fmt"
	"time"

	"netrec/analyze/agg"
)

// Slow is a turn and whose it was.
type Slow struct {
	Turn
	Service, Process string
	Sock             uint64
	Gen              int
}

// owed is how long somebody owed something in the turn: one without an end may idle as long as its connection.
func (s *Slow) owed() int64 { return s.End - s.Start - s.Split[Idle] }

// Slowest keeps the n slowest turns.
func Slowest(n int) *agg.Greatest[Slow] {
	return agg.NewGreatest(n, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.owed(), a.owed()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Sock, b.Sock))
	})
}

// Slow is a turn of the connection, to be kept.
func (c *Followed) Slow(t *Turn) Slow {
	return Slow{Turn: *t, Service: Service(c.Sock), Process: Process(c.Sock), Sock: c.Sock.Addr, Gen: int(c.Sock.Gen)}
}

// Story is the command, without file, that shows what happened in the turn.
func (s *Slow) Story(start int64) string {
	from, to := time.Duration(s.Start-start).Truncate(time.Microsecond), time.Duration(s.End-start+1000).Truncate(time.Microsecond)
	return fmt.Sprintf("sock 0x%x --from %v --to %v", s.Sock, from, to)
}

// Process is who owns a socket, "" if that is not known.
func Process(s *agg.Socket) string {
	if s.Pid == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d)", s.Comm, s.Pid)
}
