package engine

import (
	"fmt"
	"slices"

	"netrec/analyze/scan"
	"netrec/schema"
)

// sampledOf is how each way to draw a share is put into words, and what of an answer it means.
var sampledOf = map[schema.Thin]struct{ what, means string }{
	schema.ByPacket: {"packets", "counts are of the sample"},
	schema.ByTime:   {"the time", "counts and totals are of the sample"},
	schema.ByCall:   {"send attempts", "plus every attempt that held data back; counts are of the sample"},
	schema.ByWait:   {"waits", "plus every wait of processes with a pending connect; counts are of the sample"},
	schema.ByConn:   {"connections", "each with all its rows"},
}

// share puts the share of an event into words, with the times at which a budget changed it; "" for
// all of it.
func share(m *scan.Meta, event string) string {
	s := m.Share(event)
	if s == nil {
		return ""
	}
	base, what := m.BaseShare(event), " of "+sampledOf[s.By].what+" sampled"
	all := m.Budget.Thinned(schema.ByName(event), endOf(m))
	if base.Part() {
		return joined(fmt.Sprintf("≈ %d/%d%s", base.Keep, base.Of, what), schema.StretchText(all, base, "", m.Start(), endOf(m)))
	}
	return "≈ " + schema.StretchText(all, base, what, m.Start(), endOf(m))
}

func joined(first, second string) string {
	if second == "" {
		return first
	}
	return first + ", " + second
}

// sampledNeed is the share of the first event that an answer cannot do without, "" for all of
// them whole.
func (in *Input) sampledNeed() string {
	for _, u := range in.needs {
		if text := share(in.Meta, u.event); text != "" {
			return text
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
			ls = appendNew(ls, share(in.Meta, u.event)+": "+sampledOf[s.By].means)
		}
	}
	for _, u := range in.uses {
		s := in.Meta.Share(u.event)
		if s == nil || u.without == "" && !in.always {
			continue
		}
		text := share(in.Meta, u.event)
		if slices.Contains(ls, text+": "+sampledOf[s.By].means) {
			continue
		}
		order = appendNew(order, text)
		also[text] = appendNew(also[text], u.event)
	}
	for _, o := range order {
		ls = append(ls, o+" ("+shorten(also[o])+")")
	}
	return ls
}
