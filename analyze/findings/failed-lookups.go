package findings

import (
	"cmp"
	"fmt"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var failedLookups = Rule{
	Name: "failed-lookups", Default: 3, Unit: Count, Any: []string{"dns_call"},
	About:    "name lookups that fail in the same way; fewer if no lookup succeeds",
	Explains: []string{"slow-dns"},
	New:      newFailedLookups,
}

// lookupShare is the least share of all lookups, in percent, that fail: programs probe for names that need not exist.
const lookupShare = 10

// lookupWhy are results of getaddrinfo(3), as glibc numbers them.
var lookupWhy = map[int64]string{
	-2:  "the name does not exist (EAI_NONAME)",
	-3:  "the DNS server did not answer, or answered SERVFAIL (EAI_AGAIN)",
	-4:  "the DNS server answered with an error (EAI_FAIL)",
	-5:  "the name has no address (EAI_NODATA)",
	-11: "system error (EAI_SYSTEM)",
}

// badLookups are those that failed in one way.
type badLookups struct {
	n, first, longest int64
	names, who        agg.Top[string]
}

func newFailedLookups(in *engine.Input, limit float64, found *Shelf) func() {
	var all int64
	var by agg.Keyed[string, badLookups]
	var own agg.Intern
	host, dur, ret, got, why, pid, comm := in.Str("host"), in.Int("dur_ns"), in.Int("ret"), in.Int("found"), in.Str("h_errno"), in.Int("pid"), in.Str("comm")
	in.Use("dns_call", "", func(r *engine.Row) {
		all++
		if r.Int(ret) == 0 && !(r.Has(got) && r.Int(got) == 0) {
			return
		}
		b := by.At(own.Get(cmp.Or(r.Str(why), lookupWhy[r.Int(ret)], "error "+strconv.FormatInt(r.Int(ret), 10))))
		if b == nil {
			return
		}
		if b.n++; b.n == 1 {
			b.first = r.TS
		}
		b.longest = max(b.longest, r.Int(dur))
		b.names.Add(own.Get(r.Str(host)), 1)
		b.who.Add(own.Get(owner(r.Int(pid), r.Str(comm))), 1)
	})
	return func() {
		for _, k := range by.Sorted(func(b *badLookups) int64 { return -b.n }, cmp.Compare[string]) {
			if b := by.At(k); (float64(b.n) >= limit && 100*b.n >= lookupShare*all) || b.n == all {
				found.Add(b.finding(in, k, all, limit))
			}
		}
	}
}

func (b *badLookups) finding(in *engine.Input, why string, all int64, limit float64) Finding {
	name, n := top(&b.names)
	who, by := top(&b.who)
	return Finding{Level: Bad, Over: max(1, float64(b.n)/limit), At: b.first,
		What: fmt.Sprintf("%s of %s failed: %s", engine.Thousands(b.n), many(all, "name lookup", "name lookups"), why),
		Evidence: fmt.Sprintf("first at %s; %s of %s; %s by %s; up to %s each", at(in, b.first), engine.Thousands(n), name,
			engine.Thousands(by), who, span(b.longest)),
		Next: "gethostlatency"}
}
