package findings

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

// verdictLine is what the rules say together, and what the list of findings leaves out.
type verdictLine struct {
	Verdict
	more string
}

var verdictFields = []render.Field[verdictLine]{
	render.Text("verdict", func(v *verdictLine) string { return Words(v.Verdict) }).Text("findings", 0),
	render.Num("findings", func(v *verdictLine) int64 { return v.All() }),
	render.Num("judged", func(v *verdictLine) int64 { return int64(v.Judged) }),
	render.Text("rules", func(v *verdictLine) string { return fmt.Sprintf("%d of %d rules", v.Judged, len(Rules)) }).Text("judged by", -10).ForPeople(),
	render.TextOr("not_judged", func(v *verdictLine) string { return strings.Join(v.Blind, "; ") }).Text("not judged", -10),
	render.TextOr("more", func(v *verdictLine) string { return v.more }).Text("more", -10).ForPeople(),
}

// findingFields are the columns of findings; next is the command that shows more of one.
func findingFields(next func(*Finding) string) []render.Field[Finding] {
	return append([]render.Field[Finding]{
		render.Text("headline", func(f *Finding) string { return f.Level.String() + ": " + f.What }).Text("finding", 0).ForPeople().Tinted(LevelTint),
		render.Text("level", func(f *Finding) string { return f.Level.String() }),
		render.Text("rule", func(f *Finding) string { return f.Rule.Name }),
		render.Text("what", func(f *Finding) string { return f.What }),
		render.Text("evidence", func(f *Finding) string { return f.Evidence }).Text("evidence", -9),
		render.Text("threshold", func(f *Finding) string { return f.Threshold }),
		render.Text("judged_by", func(f *Finding) string { return f.Threshold + ": " + f.Rule.About }).Text("threshold", -9).ForPeople(),
		render.Text("next", next).Text("next", -9),
		render.Num("times_threshold", func(f *Finding) int64 { return int64(10 * min(f.Over, 1e12)) }).As(render.Fixed).Digits(1),
		render.NonZero("ts_ns", func(f *Finding) int64 { return f.At }).In("ns"),
	}, render.WithinOr(func(f *Finding) (*agg.Socket, bool) { return &f.Sock, f.Sock.Addr != 0 }, line.IdentityFields...)...)
}

// Show writes the verdict and the findings, of each rule only the worst if brief.
func Show(in *engine.Input, v Verdict, brief bool) {
	shown, more := v.Findings, ""
	if brief {
		shown = WorstOfEach(v.Findings)
	}
	switch n := v.All() - int64(len(shown)); {
	case n > 0 && brief:
		more = engine.Plural(n, "finding", "findings") + " of the same rules: " + engine.Command(in.Meta, fmt.Sprintf("findings --top %d", v.All()))
	case n > 0:
		more = fmt.Sprintf("%s of the same rules, less severe: --top %d", engine.Plural(n, "finding", "findings"), v.All())
	}
	render.ListOf(in.Table, render.Spec{Name: "verdict", Look: render.Record}, verdictFields...).Line(verdictLine{v, more})
	next := func(f *Finding) string { return engine.Command(in.Meta, f.Next) }
	t := render.ListOf(in.Table, render.Spec{Name: "findings", Look: render.Record}, findingFields(next)...)
	for i := range shown {
		t.Add(&shown[i])
	}
}

// WorstOfEach is the first finding of each rule.
func WorstOfEach(all []Finding) []Finding {
	seen := map[*Rule]bool{}
	var first []Finding
	for _, f := range all {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			first = append(first, f)
		}
	}
	return first
}

// Words is all findings in one line.
func Words(v Verdict) string {
	switch {
	case len(v.Findings) > 0:
	case len(v.Blind) > 0:
		return fmt.Sprintf("none: %s found nothing wrong", engine.Plural(int64(v.Judged), "rule", "rules"))
	default:
		return "none: nothing looks wrong"
	}
	var parts []string
	for _, l := range []Level{Bad, Slow, Note} {
		if n := v.Levels[l]; n > 0 {
			parts = append(parts, engine.Thousands(n)+" "+l.String())
		}
	}
	return strings.Join(parts, ", ")
}

// LevelTint is the colour of a finding on a terminal, by its level.
func LevelTint(headline string) render.Tint {
	switch {
	case strings.HasPrefix(headline, Bad.String()+":"):
		return render.Red
	case strings.HasPrefix(headline, Slow.String()+":"):
		return render.Yellow
	case strings.HasPrefix(headline, Note.String()+":"):
		return render.Blue
	}
	return render.Plain
}
