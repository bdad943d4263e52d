package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "gethostlatency",
	Group:    groupDNS,
	Question: "how slow are name lookups, per process and host?",
	Help: `One line per lookup through the C library (getaddrinfo, gethostbyname and its
kin), when it returned. Resolvers that applications bring themselves and static
binaries are not seen. The return code, function and library are in the formats
for programs. --bpftrace has the columns of the bpftrace version.`,
	Example: "gethostlatency --pid 1234",
	Options: []engine.Option{{Name: "bpftrace", Kind: engine.Flag, Doc: "columns of the bpftrace version: whole milliseconds"}},
	New: func(in *engine.Input) engine.Fold {
		pid, comm, dur, host := in.Int("pid"), in.Str("comm"), in.Int("dur_ns"), in.Str("host")
		ret, function, lib := in.Int("ret"), in.Str("func"), in.Str("lib")
		whole := in.Flag("bpftrace")
		pidWidth, ms := -7, render.Col("lat_ms", render.Fixed).Digits(2).Text("LATms", 10).In("ms")
		if whole {
			pidWidth, ms = -6, render.Col("lat_ms", render.Int).Text("LATms", 6).In("ms")
		}
		spec := render.Spec{Name: "lookups", Columns: []render.Column{
			render.Col("time", render.Clock).Text("TIME", -9).ForPeople(), render.Col("pid", render.Int).Text("PID", pidWidth),
			render.Col("comm", render.String).Text("COMM", -16), ms, render.Col("host", render.String).Text("HOST", 0),
			render.Col("ret", render.Int), render.Col("func", render.String), render.Col("lib", render.String),
			render.Col("dur_ns", render.Int).In("ns"), render.Col("ts_ns", render.Int).In("ns")}}
		return snoop(in, "dns_call", spec, func(r *engine.Row, t *render.Table) {
			ns := r.Int(dur)
			t.Int(in.Local(r.TS)).Int(r.Int(pid)).Str(r.Str(comm))
			if whole {
				t.Int(ns / 1e6)
			} else {
				t.Int(render.Round(ns, 1e6, 2))
			}
			t.Str(r.Str(host)).IntOr(r.Int(ret), r.Has(ret)).StrOr(r.Str(function)).StrOr(r.Str(lib)).Int(ns).Int(r.TS)
		})
	},
})
