package analyze

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/schema"
)

// How the overview shares the forty lines of a screen. The rest is for what limits the recording,
// headings and the commands at the end.
const (
	screenLimits   = 3
	screenFindings = 12 // lines
	screenTalkers  = 4
	screenServices = 3
)

// screen shows the recording on one screen: what is wrong, who talked most, where the time went,
// what to type next.
func (f *overview) screen(v findings.Verdict, cost *schema.Spent) {
	f.line("", f.about(cost))
	f.wrongs(v)
	f.talk.show(min(f.top, screenTalkers))
	f.time.show(min(f.top, screenServices))
	f.next()
}

// line starts a table of lines, a tag before each.
func (f *overview) line(name string, lines ...string) {
	t := render.ListOf(f.in.Table, render.Spec{Name: name, Look: render.Lines}, render.Text("line", func(l *string) string { return *l }).Text("LINE", 0))
	for _, l := range lines {
		t.Line(l)
	}
}

// about is the recording in one line.
func (f *overview) about(cost *schema.Spent) string {
	m := f.in.Meta
	rows := int64(0)
	for _, n := range m.Rows {
		rows += n
	}
	parts := []string{fmt.Sprintf("%s: %s rows", filepath.Base(cmp.Or(m.Path, "FILE")), engine.Thousands(rows))}
	if rows > 0 {
		began := time.Unix(0, f.in.Start()).In(time.FixedZone(m.Host.Zone, m.Host.Offset))
		ms := (max(m.LastNS, m.Recording.StopNS) - f.in.Start()) / 1e6
		parts = append(parts, fmt.Sprintf("%d.%03d s from %s", ms/1000, ms%1000, began.Format(time.RFC3339)))
	}
	if m.Recording.End == "" {
		parts = append(parts, "not ended: killed, or still recording")
	}
	if m.Host.Name != "" {
		parts = append(parts, "host "+m.Host.Name)
	}
	if p := cost.RecorderPercent(); p > 0 {
		parts = append(parts, fmt.Sprintf("recorder %.1f %% of CPU", p))
	}
	return render.Shorten(strings.Join(parts, ", "), f.in.Answer.Columns())
}

// wrongs lists the worst finding of each rule while there is room.
func (f *overview) wrongs(v findings.Verdict) {
	type tagged struct{ tag, line string }
	t := render.ListOf(f.in.Table, render.Spec{Name: "wrong", Title: f.verdict(v), Look: render.Lines},
		render.Text("level", func(l *tagged) string { return l.tag }).Text("LEVEL", -4).Tinted(func(s string) render.Tint { return findings.LevelTint(strings.ToLower(s) + ":") }),
		render.Text("line", func(l *tagged) string { return l.line }).Text("LINE", 0))
	t.Begin()
	width, used, shown := f.in.Answer.Columns()-5, 0, int64(0)
	for _, w := range findings.WorstOfEach(v.Findings) {
		lines := slices.Concat(render.Wrap(w.What, width, 2), render.Wrap(w.Evidence, width, 1), []string{engine.Command(f.in.Meta, w.Next)})
		if used += len(lines); used > screenFindings {
			break
		}
		shown++
		for i, l := range lines {
			tag := ""
			if i == 0 {
				tag = strings.ToUpper(w.Level.String())
			}
			t.Line(tagged{tag, l})
		}
	}
	if n := v.All() - shown; n > 0 {
		t.Line(tagged{line: fmt.Sprintf("%s more: %s", engine.Thousands(n), engine.Command(f.in.Meta, fmt.Sprintf("findings --top %d", v.All())))})
	}
}

// verdict is what the rules say together, and which of them could not judge.
func (f *overview) verdict(v findings.Verdict) string {
	words := "nothing"
	if v.All() > 0 {
		words = findings.Words(v)
	}
	text := fmt.Sprintf("what looks wrong: %s, by %d of %d rules", words, v.Judged, len(findings.Rules))
	if len(v.Blind) > 0 {
		var names []string
		for _, b := range v.Blind {
			name, _, _ := strings.Cut(b, " ")
			names = append(names, name)
		}
		text += "; no events for " + strings.Join(names, ", ")
	}
	return render.Shorten(text, f.in.Answer.Columns())
}

// next lists what to type.
func (f *overview) next() {
	type command struct{ line, shows string }
	list := []command{{engine.Command(f.in.Meta, "socks --top 20"), "every socket, by bytes"},
		{engine.Command(f.in.Meta, "--all"), "events, hooks, losses, analyses"},
		{strings.Replace(engine.Command(f.in.Meta, ""), "analyze", "report", 1), "all of it on an HTML page"}}
	if f.time.Any() {
		list[0] = command{engine.Command(f.in.Meta, "waits --slowest 5"), "the slowest answers, and why"}
	}
	if peer := f.talk.busiest(); peer != "" {
		list = slices.Insert(list, 1, command{engine.Command(f.in.Meta, "sock "+render.ShellWord(peer)), "what happened there"})
	}
	width := 0
	for _, c := range list {
		width = max(width, min(len(c.line), 60))
	}
	t := render.ListOf(f.in.Table, render.Spec{Name: "next", Title: "next", Look: render.Lines},
		render.Text("command", func(c *command) string { return c.line }).Text("COMMAND", -width),
		render.Text("shows", func(c *command) string { return c.shows }).Text("SHOWS", 0).Sep("  # "))
	for _, c := range list {
		t.Line(c)
	}
}
