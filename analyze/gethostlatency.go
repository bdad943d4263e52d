package analyze

import (
	"fmt"
	"strconv"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "gethostlatency",
	Group:    groupSlow,
	Question: "how slow are name lookups, per process and host, and does it depend on how many run at once?",
	Help: `One line per lookup through the C library (getaddrinfo, gethostbyname and relatives), when
it returned. The name is the one at the start of the call. A second table shows what this
misses, such as resolvers inside applications and static binaries: queries to port 53 and
their answers that are not part of a lookup by the same thread, by socket and in order. The
recording does not have the names in them. Queries that a cache or local resolver answers
some other way are not seen.
--concurrency shows latency by the number of lookups in flight when a lookup began: if
latency grows with it, something limits the lookups of this host. --result adds what the
call returned and which addresses it asked for: inet, inet6, or unspec for both. Formats
for programs also have the return value, the function and the library.
--bpftrace prints the columns of the bpftrace version.

The originals read the name when the call returns, from memory that the caller may have
reused by then; --compat does the same.`,
	Example: "gethostlatency --concurrency",
	Options: []engine.Option{{Name: "bpftrace", Kind: engine.Flag, Doc: "columns of the bpftrace version: whole milliseconds"},
		{Name: "result", Kind: engine.Flag, Doc: "ok, or why there was no address, and the family asked for"},
		engine.Compat("the name as it was when the call returned"),
		{Name: "concurrency", Kind: engine.Flag, Doc: "latency by lookups in flight instead of lines"}},
	New: newGethostlatency,
})

type gethostlatency struct {
	in      *engine.Input
	t       *render.List[lookupLine]
	queries *queries
	load    *lookupLoad
	whole   bool
	compat  bool
	tap     func(us int64)

	lookups, failed, changed, bare int64 // changed: names by the return; bare: without what was there then

	Pid, Tid, DurNs, Ret, Found                    scan.Int
	Comm, Host, HostEnd, HErrno, Family, Func, Lib scan.Str
}

func newGethostlatency(in *engine.Input) engine.Fold {
	f := &gethostlatency{in: in, whole: in.Flag("bpftrace"), compat: in.Flag("compat")}
	in.Bind(f)
	f.tap = in.Tap("lookups")
	if in.Flag("concurrency") {
		f.load = &lookupLoad{}
	}
	if first := in.FirstOf("dns_call", "udp_msg"); first == "dns_call" {
		in.On(first, f.row)
		if !f.whole && f.load == nil {
			f.queries = newQueries(in, "lookups that do not go through the C library are not seen")
		}
	} else {
		in.Use("dns_call", "there are no names, only queries to port 53", f.row)
		f.queries = newQueries(in, "")
		in.On(first, nil)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "lookups"}, f.fields(in.Flag("result"))...)
	return f
}

// lookupLine is a lookup as a line shows it.
type lookupLine struct {
	*engine.Row
	name   string
	ns     int64
	failed bool
}

func (f *gethostlatency) fields(result bool) []render.Field[lookupLine] {
	pidWidth, took := -7, func(l *lookupLine) int64 { return l.ns }
	ms, ts := hundredths("lat_ms", "LATms", took), func(l *lookupLine) int64 { return l.TS }
	if f.whole {
		pidWidth, ms = -6, render.Num("lat_ms", func(l *lookupLine) int64 { return l.ns / 1e6 }).Text("LATms", 6).In("ms")
	}
	text := func(c scan.Str) func(*lookupLine) string { return func(l *lookupLine) string { return l.Str(c) } }
	number := func(c scan.Int) func(*lookupLine) (int64, bool) {
		return func(l *lookupLine) (int64, bool) { return l.Int(c), l.Has(c) }
	}
	return []render.Field[lookupLine]{
		line.TimeOfDay(f.in, ts).Text("TIME", -9),
		render.Num("pid", func(l *lookupLine) int64 { return l.Int(f.Pid) }).Text("PID", pidWidth),
		render.Text("comm", text(f.Comm)).Text("COMM", -16),
		ms,
		render.Text("result", func(l *lookupLine) string { return lookupResult(l.Int(f.Ret), l.Str(f.HErrno), l.failed) }).TextIf(result, "RESULT", -14),
		render.TextOr("family", text(f.Family)).TextIf(result, "FAMILY", -6),
		render.Text("host", func(l *lookupLine) string { return l.name }).Text("HOST", 0),
		render.NumOr("ret", number(f.Ret)).Fails(func(c *render.Cell) bool { return c.Num != 0 }),
		render.NumOr("found", number(f.Found)).Fails(func(c *render.Cell) bool { return !c.Null && c.Num == 0 }),
		render.TextOr("h_errno", text(f.HErrno)),
		render.TextOr("func", text(f.Func)),
		render.TextOr("lib", text(f.Lib)),
		render.Num("dur_ns", took).In("ns"),
		render.Num("ts_ns", ts).In("ns"),
	}
}

func (f *gethostlatency) row(r *engine.Row) {
	ns, failed := r.Int(f.DurNs), r.Int(f.Ret) != 0 || r.Has(f.Found) && r.Int(f.Found) == 0
	if f.tap != nil {
		f.tap(ns / 1000)
	}
	if f.lookups++; failed {
		f.failed++
	}
	if f.queries != nil {
		f.queries.explained(r.Int(f.Tid), r.TS-ns, r.TS)
	}
	if f.load != nil {
		f.load.add(r.TS-ns, r.TS, failed)
		return
	}
	f.t.Line(lookupLine{r, f.name(r), ns, failed})
}

// name is what was looked up, or what the originals take for it.
func (f *gethostlatency) name(r *engine.Row) string {
	begun, end := r.Str(f.Host), r.Str(f.HostEnd)
	switch {
	case !r.HasStr(f.HostEnd):
		f.bare++
		return begun
	case begun != end:
		f.changed++
	}
	if f.compat {
		return end
	}
	return begun
}

// Finish shows the queries that no lookup explains, or latency against load.
func (f *gethostlatency) Finish(a *render.Answer) {
	if f.queries != nil {
		f.queries.finish(a, f.load)
	}
	f.load.show(f.in, a)
	if f.compat && f.bare > 0 {
		a.Note(fmt.Sprintf("not recorded: the name at the return of %s", engine.Plural(f.bare, "lookup", "lookups")))
	}
	shape.NoteRules(a, f.changed, f.compat,
		fmt.Sprintf("names that had changed in memory when the call returned: %d", f.changed),
		fmt.Sprintf("%s had another name in memory at the return; the originals show that one (--compat)", engine.Plural(f.changed, "lookup", "lookups")))
	if f.failed > 0 {
		a.Note(fmt.Sprintf("%s of %s lookups failed", engine.Thousands(f.failed), engine.Thousands(f.lookups)))
	}
}

// lookupErrors are the errors of getaddrinfo, by their number without its sign. The C
// libraries of Linux have the same ones.
var lookupErrors = [...]string{1: "EAI_BADFLAGS", 2: "EAI_NONAME", 3: "EAI_AGAIN", 4: "EAI_FAIL", 5: "EAI_NODATA", 6: "EAI_FAMILY",
	7: "EAI_SOCKTYPE", 8: "EAI_SERVICE", 9: "EAI_ADDRFAMILY", 10: "EAI_MEMORY", 11: "EAI_SYSTEM", 12: "EAI_OVERFLOW"}

// lookupResult is what a lookup gave: ok, the error by its name, or that there was nothing.
func lookupResult(ret int64, herrno string, failed bool) string {
	switch {
	case !failed:
		return "ok"
	case herrno != "":
		return herrno
	case ret < 0 && ret > -int64(len(lookupErrors)):
		return lookupErrors[-ret]
	case ret != 0:
		return strconv.FormatInt(ret, 10)
	}
	return "not found"
}
