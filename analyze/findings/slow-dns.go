package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var slowDNS = Rule{
	Name: "slow-dns", Default: 100e6, Unit: Duration, Any: []string{"dns_call"},
	About: "time that a name lookup waits for the DNS server, or a tenth of what it takes besides",
	New:   newSlowDNS,
}

// slowDNSLeast is how many slow lookups make a finding, if they are not half of all and none is very
// slow: one may be chance.
const slowDNSLeast = 3

// besides is how many times as long a lookup may take without its DNS server: it reads files and starts
// libraries, which is up to the host and how busy that is. One that waits that long is very slow.
const besides = 10

// dnsPort is the port of DNS servers.
const dnsPort = 53

// lookups are those of one name.
type lookups struct {
	all, slow, failed int64
	longest, at       int64
	waited            int64 // by the longest, for the DNS server
	asked             bool  // it did ask one
	pid               int64
	comm              string
}

// querying is a thread that asks a DNS server: its first query and its newest answer.
type querying struct{ sent, heard int64 }

// waited is for how long the thread waited in a call that ended now, after so long; false if it did not ask.
func (q *querying) waited(now, took int64) (ns int64, asked bool) {
	defer func() { *q = querying{} }()
	if q.sent == 0 || q.sent < now-took {
		return took, false
	}
	if q.heard == 0 {
		q.heard = now
	}
	return q.heard - q.sent, true
}

// queries follows them by thread.
func queries(in *engine.Input) *agg.Keyed[int64, querying] {
	var threads agg.Keyed[int64, querying]
	rport, dir, ret, tid := in.Int("rport"), in.Str("dir"), in.Int("ret"), in.Int("tid")
	in.Use("sock_io", "", func(r *engine.Row) {
		if r.Int(rport) != dnsPort || r.Int(ret) <= 0 {
			return
		}
		q := threads.At(r.Int(tid))
		switch {
		case q == nil:
		case r.Str(dir) == "recv":
			q.heard = r.TS
		case q.sent == 0:
			*q = querying{sent: r.TS}
		default:
			q.heard = 0 // it asks again
		}
	})
	return &threads
}

func newSlowDNS(in *engine.Input, limit float64, found *Shelf) func() {
	var names agg.Keyed[string, lookups]
	var own agg.Intern
	threads, all, slow, very := queries(in), int64(0), int64(0), false
	host, dur, ret, got, pid, tid, comm := in.Str("host"), in.Int("dur_ns"), in.Int("ret"), in.Int("found"), in.Int("pid"), in.Int("tid"), in.Str("comm")
	in.Use("dns_call", "", func(r *engine.Row) {
		l := names.At(own.Get(r.Str(host)))
		if l == nil {
			return
		}
		all++
		l.all++
		ns := r.Int(dur)
		waited, asked := ns, false
		if q := threads.At(r.Int(tid)); q != nil {
			waited, asked = q.waited(r.TS, ns)
		}
		if float64(waited) < limit && float64(ns-waited) < besides*limit {
			return
		}
		slow, very = slow+1, very || float64(waited) >= besides*limit
		if l.slow++; r.Int(ret) != 0 || r.Has(got) && r.Int(got) == 0 {
			l.failed++
		}
		if ns > l.longest {
			l.longest, l.at, l.pid, l.comm, l.waited, l.asked = ns, r.TS-ns, r.Int(pid), own.Get(r.Str(comm)), waited, asked
		}
	})
	return func() {
		if slow < slowDNSLeast && 2*slow < all && !very {
			return
		}
		for _, name := range names.Sorted(func(l *lookups) int64 { return -l.longest }, cmp.Compare[string]) {
			l := names.At(name)
			if l.slow == 0 {
				return
			}
			failed := ""
			if l.failed > 0 {
				failed = fmt.Sprintf("; %s of the slow ones failed", engine.Thousands(l.failed))
			}
			if l.asked {
				failed += fmt.Sprintf("; it waited %s for the DNS server", span(l.waited))
			}
			found.Add(Finding{Level: Slow, Over: float64(l.longest) / limit, At: l.at, About: "slow lookups", Each: "names",
				What: fmt.Sprintf("looking up %s took up to %s", name, span(l.longest)),
				Evidence: fmt.Sprintf("%s of %s slow, longest by %s at %s%s", engine.Thousands(l.slow), many(l.all, "lookup", "lookups"),
					owner(l.pid, l.comm), at(in, l.at), failed),
				Next: "gethostlatency"})
		}
	}
}
