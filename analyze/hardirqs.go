package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "hardirqs",
	Group:    groupCPU,
	Question: "how much time goes into hard interrupts, by device?",
	Help: `The time that the handlers of each interrupt took, least first. A network card has one name
per queue: an uneven spread shows queues with more than their share, and --by name,cpu
shows on which CPUs they are handled. Handlers that share a line have separate names. Time
in the kernel's entry code before the handler is not included. BCC leaves out runs of a
handler whose device had not raised the interrupt; --compat does the same.`,
	Example: "hardirqs --by name,cpu",
	Options: shape.IRQOptions("name", engine.Compat("leave out handlers whose device had not raised the interrupt")),
	New: func(in *engine.Input) engine.Fold {
		name, ret := in.Str("irq_name"), in.Str("irq_ret")
		f := shape.NewIRQSums(in, render.TextOr("name", func(r *engine.Row) string { return r.Str(name) }), "name", "HARDIRQ", 26, false)
		h := &hardirqs{IRQSums: f, compat: in.Flag("compat")}
		in.On("irq", func(r *engine.Row) {
			if r.Str(ret) == "none" {
				if h.others++; h.compat {
					return
				}
			}
			h.Add(r, r.Int(h.DurNs))
		})
		return h
	},
})

// hardirqs counts runs of handlers that found nothing to do apart.
type hardirqs struct {
	*shape.IRQSums
	compat bool
	others int64
}

// Finish adds what the other rule changes.
func (h *hardirqs) Finish(a *render.Answer) {
	h.IRQSums.Finish(a)
	switch n := engine.Plural(h.others, "run", "runs"); {
	case h.others == 0:
	case h.compat:
		a.Note("--compat: left out " + n + " of handlers whose device had not raised the interrupt")
	default:
		a.Note("included " + n + " of handlers whose device had not raised the interrupt; the original leaves them out (--compat)")
	}
}
