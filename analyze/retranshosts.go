package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "retranshosts",
	Aliases:  []string{"p13"},
	Group:    groupLost,
	Question: "to which hosts does TCP retransmit, data or SYN-ACKs?",
	Help: `Retransmitted segments by kind and remote host, rarest first, IPv4 and IPv6. The kind is
the name of the tracepoint. tcpretrans shows which connections, and whether the loss was
on this host.
The original means the remote host but reads the address field of the local one, knows
only IPv4, and counts buffers, which can hold several segments; --compat does the same.
Kernels up to 6.12 do not report failed attempts.`,
	Example: "retranshosts --by host",
	Options: []engine.Option{engine.By("probe,host", append([]string{"state"}, engine.SocketKeys...)...), engine.Compat("local address instead of the remote one, IPv4 only, buffers instead of segments")},
	New: func(in *engine.Input) engine.Fold {
		laddr, raddr, compat := in.Str("laddr"), in.Str("raddr"), in.Flag("compat")
		own := map[string]engine.KeyDef{
			"probe": {render.Text("probe", func(r *engine.Row) string {
				if r.Event.Name == "tcp_synack_retrans" {
					return "tracepoint:tcp:tcp_retransmit_synack"
				}
				return "tracepoint:tcp:tcp_retransmit_skb"
			})},
			"host": {render.TextOr("host", func(r *engine.Row) string {
				if compat {
					return r.Str(laddr)
				}
				return r.Str(raddr)
			})},
		}
		keys := in.Keys(own)
		counts := shape.Count(in, "retransmits", keys.Fields...)
		counts.Table.Unnamed = true
		again, byHost := in.Resent(), keys.Has("host")
		var all, v6 int64
		row := func(r *engine.Row, n int64) {
			// Its address field is that of IPv4; a count without addresses has both.
			if all++; byHost && line.IPVersion(r.Str(raddr)) == 6 {
				if v6++; compat {
					return
				}
			}
			if compat {
				n = 1
			}
			if n > 0 {
				counts.Add(keys.Of(r), n)
			}
		}
		in.On("tcp_retrans", func(r *engine.Row) { row(r, again.Segments(r)) })
		in.Use("tcp_synack_retrans", "SYN-ACKs are not counted", func(r *engine.Row) { row(r, 1) })
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			shape.NoteRules(a, all, compat,
				fmt.Sprintf("--compat: addresses are this host's own, buffers are counted, %s of IPv6 left out", engine.Thousands(v6)),
				fmt.Sprintf("the original counts buffers (%s), groups them by an address of this host, and leaves out %s of IPv6 (--compat)", engine.Thousands(all), engine.Thousands(v6)))
			again.Note(a)
		}))
	},
})
