package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// maxThreads is how many threads are remembered for what they did last.
const maxThreads = 1 << 16

// lookedUp remembers the last name that each thread looked up.
type lookedUp struct {
	last  map[int64]string // by thread
	names agg.Intern
}

func (l *lookedUp) listen(in *engine.Input) {
	l.last = map[int64]string{}
	in.OnLoss([]string{"dns_call"}, func() { clear(l.last) })
	tid, host := in.Int("tid"), in.Str("host")
	in.Use("dns_call", "there are no names", func(r *engine.Row) {
		if len(l.last) >= maxThreads {
			clear(l.last)
		}
		l.last[r.Int(tid)] = l.names.Get(r.Str(host))
	})
}
