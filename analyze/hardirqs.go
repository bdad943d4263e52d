package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "hardirqs",
	Group:    groupCPU,
	Question: "how much time goes into hard interrupts, by device?",
	Help: `The time that the handlers of each interrupt took, least first. A network card has
one name per queue: an uneven spread shows queues that get more than their share, and
--by name,cpu on which CPUs they are handled. Handlers that share a line are told apart
by name; time in the kernel's entry code before the handler is not in it.`,
	Example: "hardirqs --by name,cpu",
	Options: irqOptions("name"),
	New: func(in *engine.Input) engine.Fold {
		name := in.Str("irq_name")
		f := newIRQSums(in, engine.KeyDef{Columns: []render.Column{render.Col("name", render.String)},
			Put: func(r *engine.Row, v *engine.KeyValues) { v.StrOr(r.Str(name)) }}, "name", "HARDIRQ", 26, false)
		in.On("irq", func(r *engine.Row) { f.add(r, r.Int(f.dur)) })
		return f
	},
})
