package findings

import (
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

// Show writes the verdict and the findings, of each rule only the worst if brief.
func Show(in *engine.Input, v Verdict, brief bool) {
	shown := v.Findings
	if brief {
		shown = WorstOfEach(v.Findings)
	}
	t := in.Table(render.Spec{Name: "verdict", Look: render.Record, Columns: []render.Column{
		render.Col("verdict", render.String).Text("findings", 0), render.Col("findings", render.Int),
		render.Col("judged", render.Int), render.Col("rules", render.String).Text("judged by", -10).ForPeople(),
		render.Col("not_judged", render.String).Text("not judged", -10), render.Col("more", render.String).Text("more", -10).ForPeople()}})
	more := ""
	switch n := v.All() - int64(len(shown)); {
	case n > 0 && brief:
		more = engine.Plural(n, "finding", "findings") + " of the same rules: " + engine.Command(in.Meta, fmt.Sprintf("findings --top %d", v.All()))
	case n > 0:
		more = fmt.Sprintf("%s of the same rules, less severe: --top %d", engine.Plural(n, "finding", "findings"), v.All())
	}
	t.Str(Words(v)).Int(v.All()).Int(int64(v.Judged)).Str(fmt.Sprintf("%d of %d rules", v.Judged, len(Rules))).StrOr(strings.Join(v.Blind, "; ")).StrOr(more).End()
	t = in.Table(render.Spec{Name: "findings", Look: render.Record, Columns: slices.Concat([]render.Column{
		render.Col("headline", render.String).Text("finding", 0).ForPeople().Tinted(LevelTint), render.Col("level", render.String), render.Col("rule", render.String),
		render.Col("what", render.String), render.Col("evidence", render.String).Text("evidence", -9), render.Col("threshold", render.String),
		render.Col("judged_by", render.String).Text("threshold", -9).ForPeople(), render.Col("next", render.String).Text("next", -9),
		render.Col("times_threshold", render.Fixed).Digits(1), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())})
	for i := range shown {
		f := &shown[i]
		t.Str(f.Level.String() + ": " + f.What).Str(f.Level.String()).Str(f.Rule.Name).Str(f.What).Str(f.Evidence).Str(f.Threshold)
		t.Str(f.Threshold+": "+f.Rule.About).Str(engine.Command(in.Meta, f.Next)).Int(int64(10*min(f.Over, 1e12))).IntOr(f.At, f.At != 0)
		if f.Sock.Addr == 0 {
			t.Null(3).End()
		} else {
			line.PutIdentity(t, &f.Sock).End()
		}
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
