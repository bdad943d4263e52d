package report

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/turns"
)

// Bounds of what the page says about turns.
const (
	shownServices = 12
	shownTurns    = 10
)

// waits is where the time of connections went.
type waits struct {
	*turns.Services
	slowest *agg.Greatest[turns.Slow]
}

func newWaits(in *engine.Input) *waits {
	f := &waits{slowest: turns.Slowest(shownTurns)}
	f.Services = turns.ByService(in, func(c *turns.Followed, t *turns.Turn) { f.slowest.Add(c.Slow(t)) })
	return f
}

// has reports whether a turn of the socket may be among the slowest.
func (f *waits) has(s *agg.Socket) bool {
	return f.slowest.Has(func(t turns.Slow) bool { return t.Sock == s.Addr && t.Gen == s.Gen })
}

// Waits is where the time went, in the page.
type Waits struct {
	Services []Service
	More     int // services that are left out
	Kinds    []turns.Wait
	Slowest  []Turn
	Notes    []string
}

// Service is a bar of what its connections waited for, without idle time.
type Service struct {
	Name, Shares, Idle string
	Turns              int64
	Lengths            bool // of turns, ns:
	Half, Late, Most   float64
	Busy               float64 // ns
	Parts              []Part
}

// Part is a piece of a bar.
type Part struct {
	Wait  turns.Wait
	Share float64 // of 1
	Ns    float64
}

// Turn is one of the slowest turns.
type Turn struct {
	turns.Slow
	From, To float64 // seconds
	Took     float64 // ns
	Shares   string
	Socket   int // its position among the sockets, -1 if it is not there
}

// fillWaits puts bars and turns into the page, nothing if no time is known.
func (f *fold) fillWaits(p *Page, socket func(addr uint64, gen int) int) {
	most, more := f.waits.Most(shownServices)
	if !f.waits.Any() || len(most) == 0 {
		return
	}
	w := &Waits{More: more, Notes: f.waits.Notes()}
	var shown [turns.Waits]bool
	for _, s := range most {
		v := service(s)
		for _, part := range v.Parts {
			shown[part.Wait] = true
		}
		w.Services = append(w.Services, v)
	}
	for k := range turns.Waits {
		if shown[k] {
			w.Kinds = append(w.Kinds, k)
		}
	}
	for _, t := range f.waits.slowest.Sorted() {
		v := Turn{Slow: t, From: f.since(t.Start), To: f.since(t.End), Took: float64(t.End - t.Start), Shares: t.Split.Shares(), Socket: socket(t.Sock, t.Gen)}
		v.Service, v.Process = safe(v.Service), safe(cmp.Or(v.Process, "unknown"))
		w.Slowest = append(w.Slowest, v)
	}
	p.Waits = w
	p.Commands["waits"], p.Commands["slowest"] = f.command("waits"), f.command("waits --slowest")
}

func service(s *turns.Served) Service {
	q, busy := &s.Length, s.Split
	v := Service{Name: safe(s.Name), Turns: s.Turns, Lengths: q.Count > 0, Half: float64(q.At(0.5) * 1000), Late: float64(q.At(0.99) * 1000), Most: float64(q.Max * 1000), Busy: float64(s.Busy())}
	if ns := busy[turns.Idle]; ns > 0 {
		v.Idle = span(float64(ns))
	}
	busy[turns.Idle] = 0
	v.Shares = busy.Shares()
	for k, ns := range busy {
		if ns > 0 {
			v.Parts = append(v.Parts, Part{turns.Wait(k), float64(ns) / v.Busy, float64(ns)})
		}
	}
	return v
}
