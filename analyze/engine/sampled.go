package engine

import (
	"fmt"
	"slices"

	"netrec/schema"
)

// sampledOf is how each way to draw a share is put into words, and what of an answer it means.
var sampledOf = map[schema.Thin]struct{ what, means string }{
	schema.ByPacket: {"packets", "counts are of the sample"},
	schema.ByTime:   {"the time", "counts and totals are of the sample"},
	schema.ByCall:   {"send attempts", "plus all that held data back; counts are of the sample"},
	schema.ByWait:   {"waits", "plus all of processes with a connect under way; counts are of the sample"},
}

// share puts a share into words.
func share(s *schema.Share) string {
	return fmt.Sprintf("≈ %d/%d of %s sampled", s.Keep, s.Of, sampledOf[s.By].what)
}

// sampledNeed is the share of the first event that an answer cannot do without, "" for all of
// them whole.
func (in *Input) sampledNeed() string {
	for _, u := range in.needs {
		if s := in.Meta.Share(u.event); s != nil {
			return share(s)
		}
	}
	return ""
}

// sampled says of which events only a share was recorded, a line for each way to draw it. Of
// events that the answer is only better with, it says which they are.
func (in *Input) sampled() (ls []string) {
	also := map[string][]string{}
	var order []string
	for _, u := range in.needs {
		if s := in.Meta.Share(u.event); s != nil {
			ls = appendNew(ls, share(s)+": "+sampledOf[s.By].means)
		}
	}
	for _, u := range in.uses {
		s := in.Meta.Share(u.event)
		if s == nil || u.without == "" && !in.always || slices.Contains(ls, share(s)+": "+sampledOf[s.By].means) {
			continue
		}
		order = appendNew(order, share(s))
		also[share(s)] = appendNew(also[share(s)], u.event)
	}
	for _, o := range order {
		ls = append(ls, o+" ("+shorten(also[o])+")")
	}
	return ls
}
