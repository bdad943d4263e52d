package analyze

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// bindCounts counts binds per address and port, as bindsnoop does.
type bindCounts struct {
	names agg.Intern
	binds agg.Top[boundTo]
}

// boundTo is what a socket was bound to, or asked for in vain.
type boundTo struct {
	addr string
	port int64
}

func (c *bindCounts) add(addr string, port int64) { c.binds.Add(boundTo{c.names.Get(addr), port}, 1) }

func (c *bindCounts) show(in *engine.Input) {
	t := in.Table(render.Spec{Name: "counts", Columns: []render.Column{render.Col("laddr", render.String).Text("LADDR", -39),
		render.Col("lport", render.Int).Text("LPORT", 5), render.Col("binds", render.Int).Text("BINDS", 10)}})
	for _, e := range c.binds.Best(1<<16, func(a, b boundTo) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.port, b.port))
	}) {
		t.StrOr(e.Key.addr).Int(e.Key.port).Int(e.Count).End()
	}
}
