package record

import (
	"os"

	"netrec/record/hook"
	"netrec/record/priv"
	"netrec/record/symbol"
	"netrec/schema"
)

// ProbePlan is what `netrec probes` shows of one event.
type ProbePlan struct {
	Event   string
	Profile schema.Profile
	Hooks   []string
	Also    []string // further rungs that this kernel has
	Refused []schema.Refusal
}

// nobody is the inode of no namespace: with it as filter the probes run but report nothing.
const nobody = 1

// Probe attaches every hook for a moment, to see what this kernel allows.
func Probe(events []*schema.Event) ([]ProbePlan, error) {
	if err := priv.Need(); err != nil {
		return nil, err
	}
	symbols, err := symbol.LoadKernel()
	if err != nil {
		return nil, err
	}
	page := int64(os.Getpagesize())
	set, err := hook.Load(hook.Config{Events: events, Detail: true, Symbols: symbols, Ref: func(string) uint32 { return 0 },
		CPUs: hook.PossibleCPUs(), Rings: 1, RingBytes: page, RareBytes: page, Netns: nobody})
	if err != nil {
		return nil, err
	}
	defer set.Release()
	var out []ProbePlan
	for i := range set.Plans {
		p := &set.Plans[i]
		pp := ProbePlan{Event: p.Event.Name, Profile: p.Event.Profile, Hooks: p.Names(), Refused: p.Refused}
		also, refused := set.Alternatives(p)
		pp.Also, pp.Refused = also, append(pp.Refused, refused...)
		out = append(out, pp)
	}
	return out, set.Close()
}
