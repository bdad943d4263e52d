package findings

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// MostOfRule is how many findings of one rule are shown: more of the same kind hide others.
const MostOfRule = 3

// Shelf keeps the findings of a rule. Those about the same peer or service are one.
type Shelf struct {
	flows    *flows
	all      agg.Keyed[string, Finding]
	suspects map[int64]bool // serials of the sockets that findings are about
}

// Add offers a finding.
func (s *Shelf) Add(f Finding) {
	kept := s.all.At(cmp.Or(f.About, f.What))
	if kept == nil {
		return
	}
	n := kept.Of + 1
	if n == 1 || worse(f, *kept) < 0 {
		*kept = f
		s.suspect(f.Sock)
	}
	kept.Of = n
}

func (s *Shelf) suspect(k agg.Socket) {
	if s.suspects == nil {
		s.suspects = map[int64]bool{}
	}
	if k.Addr != 0 {
		s.suspects[k.Serial] = true
	}
}

// sorted lists the findings, the worst first, each with how many it stands for.
func (s *Shelf) sorted() (fs []Finding) {
	for _, k := range s.all.Sorted(func(*Finding) int64 { return 0 }, cmp.Compare[string]) {
		f := *s.all.At(k)
		if f.Of > 1 {
			f.Evidence += fmt.Sprintf("; the worst of %s %s (%s)", engine.Thousands(f.Of), cmp.Or(f.Each, "sockets"), f.About)
		}
		fs = append(fs, f)
	}
	slices.SortFunc(fs, worse)
	return fs
}

// places say which cause a finding may share with others: the same peer, the
// same service, or the host.
func (f *Finding) places() (ps []string) {
	if f.Peer != "" && !loopback(f.Peer) { // there all services have the same
		ps = append(ps, f.Peer)
	}
	if f.Port != 0 {
		ps = append(ps, fmt.Sprint("port ", f.Port))
	}
	return append(ps, "host")
}

// explained leaves out findings that see the consequences of others, and says so there.
func explained(all []Finding) (kept []Finding) {
	by := map[string][]int{}
	for i := range all {
		ps := all[i].places()
		for _, p := range ps[:max(1, len(ps)-1)] { // the host only if nothing else is known
			by[p] = append(by[p], i)
		}
	}
	also, served := make([]agg.Top[string], len(all)), otherEnds(all)
	for i := range all {
		if c := causeOf(all, by, i); c >= 0 && !served(i) {
			also[c].Add(all[i].Rule.Name, max(1, all[i].Of))
		}
	}
	for i := range all {
		if served(i) || causeOf(all, by, i) >= 0 {
			continue
		}
		f := all[i]
		for _, e := range also[i].Best(3, cmp.Compare[string]) {
			f.Evidence += fmt.Sprintf("; also %s: %s", e.Key, engine.Thousands(e.Count))
		}
		kept = append(kept, f)
	}
	return kept
}

// otherEnds tells whether a finding blames a peer's program that is on this host too, where the same
// rule has found it: that sees what it does.
func otherEnds(all []Finding) func(i int) bool {
	type end struct {
		rule *Rule
		addr string
		port int64
	}
	found := map[end]bool{}
	for i := range all {
		if s := &all[i].Sock; !all[i].Far && s.Serves() {
			found[end{all[i].Rule, s.Laddr, s.Lport}] = true
		}
	}
	return func(i int) bool {
		f := &all[i]
		return f.Far && found[end{f.Rule, f.Sock.Raddr, f.Sock.Rport}]
	}
}

// causeOf is the first finding that explains another, -1 if none does. Rules explain in one
// direction only, so the finding at the end of such a chain stays.
func causeOf(all []Finding, by map[string][]int, i int) int {
	if all[i].Own {
		return -1
	}
	for _, p := range all[i].places() {
		for _, c := range by[p] {
			if name := all[i].Rule.Name; slices.Contains(all[c].Rule.Explains, name) || slices.Contains(all[c].Explains, name) {
				return c
			}
		}
	}
	return -1
}
