package schema

import (
	"fmt"
	"strings"
)

// StretchText says which share there was when, in a recording from start to end: base is the share
// without a budget, what names what it is of. It is "" for none.
func StretchText(all []Stretch, base Share, what string, start, end int64) string {
	if len(all) == 0 {
		return ""
	}
	most, least := all[0].Of, all[0].Of
	for _, s := range all {
		most, least = min(most, s.Of), max(least, s.Of)
	}
	part := func(of uint32) string { return fmt.Sprintf("%d/%d", base.Keep, uint64(base.Of)*uint64(of)) }
	text := part(least)
	if most != least {
		text = part(most) + " to " + text
	}
	second := func(ts int64) float64 { return float64(ts-start) / 1e9 }
	first, last := all[0].From, all[len(all)-1].To
	if last >= end {
		return fmt.Sprintf("%s%s since %.1f s", text, what, second(first))
	}
	return fmt.Sprintf("%s%s from %.1f s to %.1f s", text, what, second(first), second(last))
}

// Text says what a budget left of hot events, in a recording from start to end.
func (b *Budget) Text(start, end int64) string {
	var parts []string
	for _, c := range Classes {
		if text := StretchText(b.stretches(c, "", end), Share{Keep: 1, Of: 1}, " of "+string(c), start, end); text != "" {
			parts = append(parts, text)
		}
	}
	text := "nothing left out"
	if len(parts) > 0 {
		text = "sampled " + strings.Join(parts, ", ")
	}
	if b.OverNS > 0 {
		text += fmt.Sprintf("; exceeded for %.1f s by rare events and the mere presence of probes", float64(b.OverNS)/1e9)
	}
	return fmt.Sprintf("%g %% of the host's CPU time: %s", b.Percent, text)
}
