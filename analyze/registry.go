package analyze

import (
	"cmp"
	"slices"

	"netrec/analyze/engine"
)

// Groups in the order of the list.
const (
	groupStart = "Where to start"
	groupTCP   = "TCP sessions"
	groupSock  = "Socket I/O"
	groupPkt   = "Packets"
	groupDNS   = "Name lookups"
)

var groups = []string{groupStart, groupTCP, groupSock, groupPkt, groupDNS}

var registered []*engine.Analysis

// register enters an analysis. It is called where the analysis is declared and
// nowhere else.
func register(a engine.Analysis) *engine.Analysis {
	registered = append(registered, &a)
	return &a
}

// All lists every analysis, by group and name.
func All() []*engine.Analysis {
	all := slices.Clone(registered)
	slices.SortFunc(all, func(a, b *engine.Analysis) int {
		if c := cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group)); c != 0 {
			return c
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// Find is the analysis of a name or alias, nil if there is none.
func Find(name string) *engine.Analysis { return engine.Find(registered, name) }
