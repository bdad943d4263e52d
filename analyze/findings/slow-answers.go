package findings

import (
	"cmp"
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/turns"
)

// The default is when people begin to wait. It is judged by one answer in ten, so that a
// service with a few long requests among many short ones is none.
var slowAnswers = Rule{
	Name: "slow-answers", Default: 500e6, Unit: Duration, Any: turnEvents,
	About: "time from a request to its answer that one in ten of a service exceeds (90th percentile)",
	New:   newSlowAnswers,
}

// answersLeast is how many requests must be slow: one may be chance.
const answersLeast = 3

// longAnswer is how many bytes make a transfer: how long that takes is up to its size.
const longAnswer = 256 << 10

// blame is what a wait in a turn means.
var blame = [turns.Waits]string{
	turns.Connecting: "the handshake", turns.AcceptQueue: "waiting in the accept queue", turns.AppThinking: "the application on this host",
	turns.AppNotReading: "the application on this host, which read late", turns.HeldSndbuf: "a full send buffer on this host", turns.HeldNagle: "Nagle's algorithm on this host",
	turns.HeldCwnd: "the congestion window", turns.HeldPacing: "pacing or a queue on this host", turns.PeerWindow: "the peer's window", turns.InFlight: "the network",
	turns.Recovery: "recovery from loss", turns.PeerThinking: "the peer's application", turns.Idle: "nobody",
}

// thinking are waits that no other rule has: an application has everything and needs its time.
func thinking(w turns.Wait) bool { return w == turns.AppThinking || w == turns.PeerThinking }

// answers are the turns of one service.
type answers struct {
	us          agg.Quantiles
	slow        int64
	longest, at int64
	spent       turns.Split // of the slow ones
	missing     int64       // time of the slow ones while sent data did not come, ns
	sock        agg.Socket
	twice       bool // at least half of what was retransmitted had arrived already
}

func newSlowAnswers(in *engine.Input, limit float64, found *Shelf) func() {
	var services agg.Keyed[string, answers]
	var own agg.Intern
	missing, twice := found.flows.missing(), found.flows.repeats()
	found.flows.follow(func(c *turns.Followed, t *turns.Turn) {
		ns := answerTime(t, limit)
		if ns < 0 {
			return
		}
		a := services.At(own.Get(service(c.Sock)))
		if a == nil {
			return
		}
		if a.us.Add(ns / 1000); float64(ns) < limit {
			return
		}
		a.slow++
		a.spent.Add(&t.Split)
		a.missing += missing.of(c.Sock).within(t.Start, t.End)
		if ns > a.longest {
			a.longest, a.at, a.sock = ns, t.Start, *c.Sock
		}
	}, nil)
	return func() {
		for _, k := range services.Sorted(func(a *answers) int64 { return -a.longest }, cmp.Compare[string]) {
			if a := services.At(k); a.slow >= answersLeast && float64(a.us.At(0.9)*1000) >= limit {
				a.twice = twice.byCounters()
				found.Add(a.finding(in, k, limit))
			}
		}
	}
}

// answerTime is how long an answer took, -1 if the turn does not tell.
func answerTime(t *turns.Turn, limit float64) int64 {
	ns := t.End - t.Start
	switch {
	case t.Overlap:
		return -1
	case t.Unfinished && float64(ns) < limit:
		return -1
	case t.Asked+t.Answered < longAnswer:
		return ns
	case t.FirstByte == 0 || float64(t.FirstByte-t.Start) < limit:
		return -1
	}
	return t.FirstByte - t.Start
}

func (a *answers) finding(in *engine.Input, where string, limit float64) Finding {
	tenth, most, total := a.us.At(0.9)*1000, a.spent.Most(), max(1, a.spent.Total())
	v := Finding{Level: Slow, Far: most == turns.PeerThinking, Over: float64(tenth) / limit, At: a.at, Next: slowest(&a.sock)}.of(&a.sock)
	why := blame[most]
	if v.Own = thinking(most); 2*a.missing > total {
		v.Own, why = false, "waiting for data that is lost before this host"
	} else if most == turns.Recovery && a.twice {
		why = "retransmitting what had arrived: acknowledgements come late"
	}
	v.What = fmt.Sprintf("answers of %s are slow: one in ten takes %s or longer, most of it %s", where, span(tenth), why)
	var parts []string
	for w := range turns.Waits {
		if percent := 100 * a.spent[w] / total; percent >= 5 {
			parts = append(parts, fmt.Sprintf("%s %d %%", w, percent))
		}
	}
	v.Evidence = fmt.Sprintf("%s of %s took %s or longer, the longest %s by %s from %s; time of the slow ones: %s", engine.Thousands(a.slow),
		many(a.us.Count, "answer", "answers"), span(int64(limit)), span(a.longest), subject(&a.sock), at(in, a.at), strings.Join(parts, ", "))
	return v
}
