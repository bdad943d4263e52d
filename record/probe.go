package record

import (
	"os"

	"netrec/record/hook"
	"netrec/record/priv"
	"netrec/record/reader"
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
	Files   []schema.Library // where the hooks stand, if in libraries
	Unseen  string           // see schema.Event
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
	files, err := reader.Start()
	if err != nil {
		return nil, err
	}
	defer files.Stop()
	page := int64(os.Getpagesize())
	set, err := hook.Load(hook.Config{Events: events, Detail: true, Symbols: symbols, Reader: files, Ref: func(string) uint32 { return 0 },
		CPUs: hook.PossibleCPUs(), Rings: 1, RingBytes: page, RareBytes: page, Filters: map[string]any{"cfg_netns": uint32(nobody)},
		CountFuncs: []string{"tcp_v4_connect"}, CountTPs: []string{"sock:inet_sock_set_state"}}) // as examples
	if err != nil {
		return nil, err
	}
	defer set.Release()
	var out []ProbePlan
	for i := range set.Plans {
		p := &set.Plans[i]
		pp := ProbePlan{Event: p.Event.Name, Profile: p.Event.Profile, Hooks: p.Names(), Refused: p.Refused,
			Unseen: p.Event.Unseen}
		if p.Event.Libraries() {
			pp.Files = set.Libraries
		}
		also, refused := set.Alternatives(p)
		pp.Also, pp.Refused = also, append(pp.Refused, refused...)
		out = append(out, pp)
	}
	return out, set.Close()
}
