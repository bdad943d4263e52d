package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
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
		h := shape.Linear(in, "cpus", "cpu", most, keys.Fields...)
		h.Table.Unnamed = true
		in.On("dev_recv", func(r *engine.Row) {
			if r.Int(cpu) >= 128 {
				above++
			}
			h.Add(keys.Of(r), r.Int(cpu))
		})
		return shape.Also(h, engine.FoldFunc(func(a *render.Answer) {
			if above > 0 {
				a.Note(fmt.Sprintf("%s on CPUs above 127, which the original (--compat) counts together", engine.Plural(above, "packet", "packets")))
			}
		}))
	},
})
