package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "txstacks",
	Aliases:  []string{"b9 --look bcc", "p19"},
	Group:    groupWho,
	Question: "which ways through the kernel lead to packets being sent?",
	Help: `How many packets each kernel stack handed to drivers, rarest first. TCP also sends from
the receive path, when an acknowledgement opens its window: such a stack begins with an
interrupt, and the process on the CPU is unrelated. Functions that the compiler inlined are
missing from stacks. A packet that a driver refused is handed over again and counts each
time. Without --all-stacks at recording, the first 32 packets a second on each CPU have a
stack, and every 64th of the others.`,
	Example: "txstacks --frames 8",
	Options: []engine.Option{
		{Name: "frames", Kind: engine.Number, Default: "0", Doc: "use this many innermost frames of a stack; 0 for all"},
		engine.By("kstack", append([]string{"dev", "ctx", "cpu"}, engine.SocketKeys...)...),
	},
	New: func(in *engine.Input) engine.Fold {
		frames, stack := in.Number("frames"), in.Str("kstack")
		keys := in.Keys(map[string]engine.KeyDef{"kstack": {
			render.TextOr("kstack", func(r *engine.Row) string { return packets.Innermost(r.Str(stack), frames) }).As(render.Stack)}})
		counts := shape.Count(in, "stacks", keys.Fields...)
		counts.Table.Unnamed = true
		byStack := keys.Has("kstack")
		bare := &packets.Stackless{Stack: stack}
		in.On("dev_xmit", func(r *engine.Row) {
			if bare.Row(r); byStack && !r.HasStr(stack) {
				return
			}
			counts.Add(keys.Of(r), 1)
		})
		return shape.Also(counts, bare)
	},
})
