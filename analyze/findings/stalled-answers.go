package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/turns"
)

// A service whose answers are mostly quick is not slow, but requests of one kind that now and then
// take very much longer wait for something: a lock, a pause of a runtime, a disk. The default is what
// a user notices.
var stalledAnswers = Rule{
	Name: "stalled-answers", Default: 100e6, Unit: Duration, Any: turnEvents,
	About: "time of an answer that an application takes now and then, though the same on the same connection took less than a twentieth",
	New:   newStalledAnswers,
}

const (
	stalledLeast  = 5  // stalls of a service that are not chance
	stalledShare  = 50 // one answer in so many, at least
	stalledFactor = 20 // times the quickest answer alike
	alikeBytes    = 8  // sizes differ by a part of this at most
)

// quickest is the quickest turn of a connection so far.
type quickest struct{ ns, asked, answered int64 }

// alike reports whether a turn asks for as much and gets as much as the quickest did: without reading
// payload, sizes tell requests of one kind from those of another.
func (q *quickest) alike(t *turns.Turn) bool {
	near := func(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/alikeBytes }
	return q.ns > 0 && near(q.asked, t.Asked) && near(q.answered, t.Answered)
}

// stalled are the answers of one service.
type stalled struct {
	us          agg.Quantiles
	n           int64
	longest, at int64
	spent       turns.Split // of the stalls
	sock        agg.Socket
}

func newStalledAnswers(in *engine.Input, limit float64, found *Shelf) func() {
	var services agg.Keyed[string, stalled]
	var conns agg.PerSocket[quickest]
	var own agg.Intern
	found.flows.follow(func(c *turns.Followed, t *turns.Turn) {
		ns := answerTime(t, limit)
		if ns < 0 {
			return
		}
		v := services.At(own.Get(service(c.Sock)))
		if v == nil {
			return
		}
		v.us.Add(ns / 1000)
		q := conns.Of(c.Sock)
		if float64(ns) >= limit && q.alike(t) && ns >= stalledFactor*q.ns && thinking(t.Split.Most()) {
			v.n++
			v.spent.Add(&t.Split)
			if ns > v.longest {
				v.longest, v.at, v.sock = ns, t.Start, *c.Sock
			}
		}
		if q.ns == 0 || ns < q.ns {
			*q = quickest{max(1, ns), t.Asked, t.Answered}
		}
	}, nil)
	return func() {
		for _, k := range services.Sorted(func(v *stalled) int64 { return -v.longest }, cmp.Compare[string]) {
			v := services.At(k)
			slow := float64(v.us.At(0.9)*1000) >= slowAnswers.Default // that rule has the service
			if v.n >= stalledLeast && v.n*stalledShare >= v.us.Count && !slow && v.rare() {
				found.Add(v.finding(in, k, limit))
			}
		}
	}
}

// rare reports whether most answers are as quick as the quickest: on a machine without a free CPU all differ.
func (v *stalled) rare() bool { return v.spent.Total()/v.n >= stalledFactor*1000*v.us.At(0.5) }

func (v *stalled) finding(in *engine.Input, where string, limit float64) Finding {
	most := v.spent.Most()
	why := blame[most]
	if most == turns.PeerThinking {
		why += ", unless its packets were lost before this host"
	}
	return Finding{Level: Slow, Own: most == turns.AppThinking, Far: most == turns.PeerThinking, Over: float64(v.longest) / limit, At: v.at,
		What: fmt.Sprintf("%s of %s of %s stalled for %s or longer, though most take %s: most of it %s",
			engine.Thousands(v.n), many(v.us.Count, "answer", "answers"), where, span(int64(limit)), span(v.us.At(0.5)*1000), why),
		Evidence: fmt.Sprintf("requests and answers of the same size on the same connection took less than a twentieth; the longest %s by %s from %s",
			span(v.longest), subject(&v.sock), at(in, v.at)),
		Next: slowest(&v.sock)}.of(&v.sock)
}
