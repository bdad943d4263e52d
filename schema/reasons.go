package schema

import (
	"slices"
	"strings"
)

// Reasons sums up why an event has no hook: each reason once for each mechanism, with
// the target where only one has it. Variants count only where nothing else is known.
func Reasons(refused []Refusal) string {
	type group struct {
		mechanism, why string
	}
	var order []group
	targets := map[group][]string{}
	for _, r := range refused {
		mechanism, target, _ := strings.Cut(r.Hook, ":")
		mechanism = strings.Replace(mechanism, "retprobe", "probe", 1)
		if r.Variant && otherwise(refused, mechanism) {
			continue
		}
		g := group{mechanism, r.Why}
		if targets[g] == nil {
			order = append(order, g)
		}
		if last := len(targets[g]) - 1; last < 0 || targets[g][last] != target {
			targets[g] = append(targets[g], target)
		}
	}
	var out []string
	for _, g := range order {
		if t := targets[g]; len(t) == 1 && t[0] != "" {
			g.mechanism += ":" + t[0]
		}
		out = append(out, g.mechanism+": "+g.why)
	}
	if out == nil {
		return "no reason given"
	}
	return strings.Join(out, "; ")
}

// otherwise is whether a mechanism was refused for more than the form of a target.
func otherwise(refused []Refusal, mechanism string) bool {
	for _, r := range refused {
		if !r.Variant && strings.HasPrefix(r.Hook, mechanism+":") {
			return true
		}
	}
	return false
}

// Blind says which functions of the library have no probe, and why not; "" where all have.
func (l Library) Blind() string {
	var functions, reasons []string
	for _, r := range l.Refused {
		if f := r.Hook[strings.LastIndexByte(r.Hook, ':')+1:]; !slices.Contains(functions, f) {
			functions = append(functions, f)
		}
		if !slices.Contains(reasons, r.Why) {
			reasons = append(reasons, r.Why)
		}
	}
	if functions == nil {
		return ""
	}
	return strings.Join(functions, ", ") + " in " + l.Path + ": " + strings.Join(reasons, ", ")
}
