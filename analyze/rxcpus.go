package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "rxcpus",
	Aliases:  []string{"p20"},
	Group:    groupCPU,
	Question: "which CPUs receive the packets of each device?",
	Help: `A linear histogram per device: rows are CPUs, counts are the packets that the stack took
over on them, after GRO. One full row among empty ones means a device with a single queue,
or queues that all interrupt the same CPU. --compat ends at CPU 128, as the original does;
otherwise the histogram ends at the last CPU of the host.
Packets that XDP programs take at the driver are not seen.`,
	Example: "rxcpus --by dev",
	Options: []engine.Option{engine.By("dev", append([]string{"ctx"}, engine.SocketKeys...)...), engine.Compat("CPUs above 128 together")},
	New: func(in *engine.Input) engine.Fold {
		cpu, keys := in.Int("cpu"), in.Keys(nil)
		most, above := int64(max(in.Meta.Host.CPUs, 128)), int64(0)
		if in.Flag("compat") {
			most = 128
		}
		h := linearOf[engine.Key](in, "cpus", "cpu", most, keys.Columns...)
		h.table.Unnamed = true
		in.On("dev_recv", func(r *engine.Row) {
			if r.Int(cpu) >= 128 {
				above++
			}
			h.Add(keys.Of(r), r.Int(cpu))
		})
		return also(h, engine.FoldFunc(func(a *render.Answer) {
			if above > 0 {
				a.Note(fmt.Sprintf("%s on CPUs above 127, which the original (--compat) counts together", engine.Plural(above, "packet", "packets")))
			}
		}))
	},
})

// linearOf is a map of histograms with a bucket for each number up to most.
func linearOf[K key[K]](in *engine.Input, name, unit string, most int64, keys ...render.Column) *mapOf[K, linear] {
	return &mapOf[K, linear]{in: in, table: in.Table(render.HistMap(name, unit, keys...)),
		add: func(l *linear, v, n int64) {
			if l.Linear == nil {
				l.Linear = agg.NewLinear(0, most, 1)
			}
			l.AddN(v, n)
		}, weight: func(l *linear) int64 { return l.Total() },
		show: func(t *render.Table, k K, l *linear) { showBuckets(t, k, l.Buckets()) }}
}

// linear is a linear histogram that is made when its first value comes.
type linear struct{ *agg.Linear }
