package analyze

import (
	"cmp"
	"embed"
	"slices"

	"netrec/analyze/engine"
)

// Groups of analyses by the question they answer, in the order of the list.
const (
	groupStart = "Where to start"
	groupWho   = "Who talks to whom?"
	groupLife  = "How long do sockets and sessions live?"
	groupSlow  = "Why is it slow?"
	groupMuch  = "How much is sent and received, in what sizes?"
	groupFull  = "What waits in which queue, and how full is it?"
	groupLost  = "What is lost, refused or retransmitted?"
	groupCPU   = "Where does the CPU spend its time?"
)

var groups = []string{groupStart, groupWho, groupLife, groupSlow, groupMuch, groupFull, groupLost, groupCPU}

var registered []*engine.Analysis

// shown has parts of answers from real recordings, for the help of analyses, by their name.
//
//go:embed shown
var shown embed.FS

// register enters an analysis. It is called where the analysis is declared and
// nowhere else.
func register(a engine.Analysis) *engine.Analysis {
	if b, err := shown.ReadFile("shown/" + a.Name + ".txt"); err == nil {
		a.Shown = string(b)
	}
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
