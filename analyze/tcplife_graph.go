package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/packets"
	"netrec/analyze/render"
)

// graphEdge is who connected to whom, on which port.
type graphEdge struct {
	client, server string
	port           int64
}

func (e graphEdge) compare(o graphEdge) int {
	return cmp.Or(cmp.Compare(e.client, o.client), cmp.Compare(e.server, o.server), cmp.Compare(e.port, o.port))
}

// graphSum is what all sessions of an edge had in common.
type graphSum struct {
	sessions, up, down int64
	ms                 agg.Sample
}

// graphFields are an edge as a line of DOT, and its numbers for programs.
var graphFields = []render.Field[graphLine]{
	render.Text("dot", (*graphLine).dot).Text("DOT", 0).ForPeople(),
	render.Text("client", func(l *graphLine) string { return l.client }),
	render.Text("server", func(l *graphLine) string { return l.server }),
	render.Num("port", func(l *graphLine) int64 { return l.port }),
	render.Num("sessions", func(l *graphLine) int64 { return l.sessions }),
	render.Num("up_bytes", func(l *graphLine) int64 { return l.up }).In("bytes"),
	render.Num("down_bytes", func(l *graphLine) int64 { return l.down }).In("bytes"),
	render.Num("median_ms", func(l *graphLine) int64 { return l.ms.Median() }).In("ms"),
}

type graphLine struct {
	graphEdge
	*graphSum
}

func (l *graphLine) dot() string {
	label := fmt.Sprintf("port %d: %s, %s up, %s down, median %d ms", l.port, engine.Plural(l.sessions, "session", "sessions"), size(l.up), size(l.down), l.ms.Median())
	return fmt.Sprintf(`  "%s" -> "%s" [label="%s"];`, dotName(l.client), dotName(l.server), label)
}

// sessionGraph draws sessions as a graph, for GraphViz.
type sessionGraph struct {
	in    *engine.Input
	node  string // host, port or process
	edges map[graphEdge]*graphSum
	seen  map[packets.Flow]bool // sessions of which one end was counted, by client and server
	both  int64
	full  int64
}

func newSessionGraph(in *engine.Input, node string) *sessionGraph {
	return &sessionGraph{in: in, node: node, edges: map[graphEdge]*graphSum{}, seen: map[packets.Flow]bool{}}
}

// add takes a session. Where both ends are on this host it comes twice, and the end that
// closes first is counted.
func (g *sessionGraph) add(s *agg.Socket, ns int64, b line.Traffic) {
	if !s.Tuple() {
		return
	}
	client := packets.Flow{Saddr: s.Laddr, Daddr: s.Raddr, Sport: s.Lport, Dport: s.Rport}
	up, down, here := b.Tx, b.Rx, true
	if g.serves(s) {
		client, here = packets.Flow{Saddr: s.Raddr, Daddr: s.Laddr, Sport: s.Rport, Dport: s.Lport}, false
		up, down = b.Rx, b.Tx
	}
	if g.seen[client] {
		delete(g.seen, client)
		g.both++
		return
	}
	if len(g.seen) >= agg.MaxFlows {
		clear(g.seen)
	}
	g.seen[client] = true
	from, to := g.name(client.Saddr, s, here), g.name(client.Daddr, s, !here)
	if g.node == "port" {
		to = render.Endpoint(client.Daddr, client.Dport)
	}
	sum := g.edge(graphEdge{from, to, client.Dport})
	if sum == nil {
		return
	}
	sum.sessions++
	sum.up, sum.down = sum.up+up, sum.down+down
	sum.ms.Add(ns / 1e6)
}

// serves reports whether the local end was connected to; of sessions whose beginning is
// not known, the end with the lower port is taken for the server.
func (g *sessionGraph) serves(s *agg.Socket) bool {
	if s.Active || s.Passive {
		return !s.Active
	}
	return s.Lport < s.Rport
}

func (g *sessionGraph) name(addr string, s *agg.Socket, local bool) string {
	if g.node == "process" && local && s.Comm != "" {
		return s.Comm + "@" + addr
	}
	return addr
}

func (g *sessionGraph) edge(e graphEdge) *graphSum {
	sum := g.edges[e]
	if sum == nil {
		if len(g.edges) >= agg.MaxFlows {
			g.full++
			return nil
		}
		sum = &graphSum{}
		g.edges[e] = sum
	}
	return sum
}

// Finish writes the graph. Lines that begin with # are comments in it.
func (g *sessionGraph) Finish(a *render.Answer) {
	t := render.ListOf(g.in.Table, render.Spec{Name: "edges", Look: render.Lines, Title: `digraph tcplife { rankdir=LR; node [shape=box];`, Foot: "}"}, graphFields...)
	t.Begin()
	for _, e := range slices.SortedFunc(maps.Keys(g.edges), graphEdge.compare) {
		t.Line(graphLine{e, g.edges[e]})
	}
	if g.both > 0 {
		a.Note(fmt.Sprintf("%s with both ends on this host, drawn once", engine.Plural(g.both, "session", "sessions")))
	}
	if g.full > 0 {
		a.Note("sessions not drawn, too many edges: " + engine.Thousands(g.full))
	}
}

// dotName makes a name safe between quotes; what else a name may hold, the encoder of
// text handles, which doubles backslashes as DOT wants it.
func dotName(s string) string { return strings.ReplaceAll(s, `"`, "'") }

// size is a number of bytes in the unit that suits it.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
