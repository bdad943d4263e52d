package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var slowDNS = Rule{
	Name: "slow-dns", Default: 100e6, Unit: Duration, Any: []string{"dns_call"},
	About: "time that a name lookup takes",
	New:   newSlowDNS,
}

// lookups are those of one name.
type lookups struct {
	all, slow, failed int64
	longest, at       int64
	pid               int64
	comm              string
}

func newSlowDNS(in *engine.Input, limit float64, found *Shelf) func() {
	var names agg.Keyed[string, lookups]
	var own agg.Intern
	host, dur, ret, got, pid, comm := in.Str("host"), in.Int("dur_ns"), in.Int("ret"), in.Int("found"), in.Int("pid"), in.Str("comm")
	in.Use("dns_call", "", func(r *engine.Row) {
		l := names.At(own.Get(r.Str(host)))
		if l == nil {
			return
		}
		l.all++
		ns := r.Int(dur)
		if float64(ns) < limit {
			return
		}
		if l.slow++; r.Int(ret) != 0 || r.Has(got) && r.Int(got) == 0 {
			l.failed++
		}
		if ns > l.longest {
			l.longest, l.at, l.pid, l.comm = ns, r.TS-ns, r.Int(pid), own.Get(r.Str(comm))
		}
	})
	return func() {
		for _, name := range names.Sorted(func(l *lookups) int64 { return -l.longest }, cmp.Compare[string]) {
			l := names.At(name)
			if l.slow == 0 {
				return
			}
			failed := ""
			if l.failed > 0 {
				failed = fmt.Sprintf("; %s of the slow ones failed", engine.Thousands(l.failed))
			}
			found.Add(Finding{Level: Slow, Over: float64(l.longest) / limit, At: l.at, About: "slow lookups", Each: "names",
				What: fmt.Sprintf("looking up %s took up to %s", name, span(l.longest)),
				Evidence: fmt.Sprintf("%s of %s slow, longest by %s at %s%s", engine.Thousands(l.slow), many(l.all, "lookup", "lookups"),
					owner(l.pid, l.comm), at(in, l.at), failed),
				Next: "gethostlatency"})
		}
	}
}
