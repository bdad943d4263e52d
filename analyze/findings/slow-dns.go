package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
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

// slowLookups follows lookups that take long.
type slowLookups struct {
	in        *engine.Input
	limit     float64
	names     agg.Keyed[string, lookups]
	own       agg.Intern
	threads   *agg.Keyed[int64, querying]
	all, slow int64
	very      bool // one waited very long

	DurNs, Ret, Found, Pid, Tid scan.Int
	Host, Comm                  scan.Str
}

func newSlowDNS(in *engine.Input, limit float64, found *Shelf) func() {
	f := &slowLookups{in: in, limit: limit, threads: queries(in)}
	in.Bind(f)
	in.Use("dns_call", "", f.call)
	return func() {
		if f.slow < slowDNSLeast && 2*f.slow < f.all && !f.very {
			return
		}
		for _, name := range f.names.Sorted(func(l *lookups) int64 { return -l.longest }, cmp.Compare[string]) {
			if l := f.names.At(name); l.slow > 0 {
				found.Add(f.finding(name, l))
			}
		}
	}
}

func (f *slowLookups) call(r *engine.Row) {
	l := f.names.At(f.own.Get(r.Str(f.Host)))
	if l == nil {
		return
	}
	f.all++
	l.all++
	ns := r.Int(f.DurNs)
	waited, asked := ns, false
	if q := f.threads.At(r.Int(f.Tid)); q != nil {
		waited, asked = q.waited(r.TS, ns)
	}
	if float64(waited) < f.limit && float64(ns-waited) < besides*f.limit {
		return
	}
	f.slow, f.very = f.slow+1, f.very || float64(waited) >= besides*f.limit
	if l.slow++; r.Int(f.Ret) != 0 || r.Has(f.Found) && r.Int(f.Found) == 0 {
		l.failed++
	}
	if ns > l.longest {
		l.longest, l.at, l.pid, l.comm, l.waited, l.asked = ns, r.TS-ns, r.Int(f.Pid), f.own.Get(r.Str(f.Comm)), waited, asked
	}
}

func (f *slowLookups) finding(name string, l *lookups) Finding {
	more := ""
	if l.failed > 0 {
		more = fmt.Sprintf("; %s of the slow ones failed", engine.Thousands(l.failed))
	}
	if l.asked {
		more += fmt.Sprintf("; it waited %s for the DNS server", span(l.waited))
	}
	return Finding{Level: Slow, Over: float64(l.longest) / f.limit, At: l.at, About: "slow lookups", Each: "names", Next: "gethostlatency",
		What: fmt.Sprintf("looking up %s took up to %s", name, span(l.longest)),
		Evidence: fmt.Sprintf("%s of %s slow, longest by %s at %s%s", engine.Thousands(l.slow), many(l.all, "lookup", "lookups"),
			owner(l.pid, l.comm), at(f.in, l.at), more)}
}
