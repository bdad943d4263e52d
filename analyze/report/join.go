package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"netrec/analyze/scan"
)

// axis is the time that several recordings share, Unix ns; zero where there is only one.
type axis struct{ from, to int64 }

func axisOf(srcs []scan.Source) (a axis) {
	if len(srcs) < 2 {
		return a
	}
	for i, src := range srcs {
		m := src.Meta()
		if a.to = max(a.to, m.LastNS, m.Recording.StopNS); i == 0 || m.Start() < a.from {
			a.from = m.Start()
		}
	}
	return a
}

// labels name each of several recordings by its host, or by its file where hosts have several.
func labels(srcs []scan.Source) []string {
	all, hosts := make([]string, len(srcs)), map[string]int{}
	for _, src := range srcs {
		hosts[src.Meta().Host.Name]++
	}
	for i, src := range srcs {
		m := src.Meta()
		if all[i] = safe(m.Host.Name); len(srcs) == 1 {
			all[i] = ""
		} else if m.Host.Name == "" || hosts[m.Host.Name] > 1 {
			all[i] = safe(filepath.Base(m.Path))
		}
	}
	return all
}

// join makes one page of those of several recordings.
func join(parts []*Page) *Page {
	if len(parts) == 1 {
		return parts[0]
	}
	first := parts[0]
	p := &Page{Title: fmt.Sprintf("netrec: %d recordings", len(parts)), Parts: parts, Rules: first.Rules, Shown: first.Shown, Each: first.Each, NoTrouble: true,
		NoBytes: first.NoBytes, NoWindows: first.NoWindows, NoDrops: first.NoDrops, full: first.full}
	p.Verdict.Judged, p.Data.Begin, p.Data.Seconds = first.Verdict.Judged, first.Data.Begin, first.Data.Seconds
	for _, q := range parts {
		p.add(q)
	}
	slices.SortStableFunc(p.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(b.Over, a.Over)) })
	slices.SortStableFunc(p.Worst, func(a, b *Socket) int { return cmp.Compare(b.wrong(), a.wrong()) })
	slices.SortStableFunc(p.Busiest, func(a, b *Socket) int { return cmp.Compare(b.Tx+b.Rx, a.Tx+a.Rx) })
	slices.SortStableFunc(p.Drops, func(a, b Drop) int { return cmp.Compare(b.Count, a.Count) })
	for i := range p.Drops {
		p.Drops[i].Percent = 100 * float64(p.Drops[i].Count) / float64(p.Dropped)
	}
	p.Data.Heats = p.Heats
	return p
}

// add takes what a recording has to say.
func (p *Page) add(q *Page) {
	p.full = cmp.Or(p.full, q.full)
	p.Verdict.Judged, p.Verdict.More = min(p.Verdict.Judged, q.Verdict.Judged), p.Verdict.More+q.Verdict.More
	for _, blind := range q.Verdict.Blind {
		p.Verdict.Blind = append(p.Verdict.Blind, q.Label+": "+blind)
	}
	p.addSockets(q)
	for _, d := range q.Drops {
		d.Label = q.Label
		p.Drops = append(p.Drops, d)
	}
	p.Dropped, p.MoreReasons, p.Lost = p.Dropped+q.Dropped, p.MoreReasons+q.MoreReasons, p.Lost+q.Lost
	for i, h := range q.Heats {
		h.ID, h.Title = fmt.Sprintf("%s-%d-%d", h.ID, len(p.Heats), i), h.Title+", "+q.Label
		p.Heats = append(p.Heats, h)
	}
	p.lines(q)
	p.NoHeats, p.NoTrouble = p.NoHeats || q.NoHeats, p.NoTrouble && q.NoTrouble
	for _, no := range []struct{ all, one *string }{{&p.NoBytes, &q.NoBytes}, {&p.NoWindows, &q.NoWindows}, {&p.NoDrops, &q.NoDrops}} {
		if *no.one == "" {
			*no.all = ""
		}
	}
}

// addSockets takes the sockets of a recording, and the findings, which lead to them.
func (p *Page) addSockets(q *Page) {
	shift := len(p.Data.Sockets)
	for _, f := range q.Findings {
		if f.Label = q.Label; f.Socket >= 0 {
			f.Socket += shift
		}
		p.Findings = append(p.Findings, f)
	}
	if q.Waits != nil {
		for i := range q.Waits.Slowest {
			if t := &q.Waits.Slowest[i]; t.Socket >= 0 {
				t.Socket += shift
			}
		}
	}
	for _, s := range q.Data.Sockets {
		s.Label = q.Label
		s.Index += shift
	}
	p.Data.Sockets = append(p.Data.Sockets, q.Data.Sockets...)
	p.Worst, p.Busiest, p.Sockets = append(p.Worst, q.Worst...), append(p.Busiest, q.Busiest...), p.Sockets+q.Sockets
}

// lines adds the lines of a recording to the charts.
func (p *Page) lines(q *Page) {
	events := Series{Name: "events"}
	for _, s := range q.Data.Events {
		if events.Values == nil {
			events.Values = make([]Value, len(s.Values))
		}
		for i, v := range s.Values {
			events.Values[i] += v
		}
	}
	d := &p.Data
	d.Events = q.named(d.Events, events)
	d.Bytes, d.Trouble, d.Own, d.Drops = q.named(d.Bytes, q.Data.Bytes...), q.named(d.Trouble, q.Data.Trouble...), q.named(d.Own, q.Data.Own...), q.named(d.Drops, q.Data.Drops...)
}

// named adds lines with the recording's name, and with gaps where it did not record.
func (p *Page) named(all []Series, more ...Series) []Series {
	for _, s := range more {
		for i := range s.Values {
			if i < p.first || i > p.last {
				s.Values[i] = Value(math.NaN())
			}
		}
		all = append(all, Series{p.Label + ": " + s.Name, s.Values})
	}
	return all
}

// wrong is how bad a socket fared.
func (s *Socket) wrong() int64 { return s.Retrans + s.Drops + s.Zero + s.Failed }

// Waited reports whether it is known of a recording where time went.
func (p *Page) Waited() bool {
	return slices.ContainsFunc(p.Parts, func(q *Page) bool { return q.Waits != nil })
}

// Cmds are the commands that print the numbers of a part of the page, one for each recording.
func (p *Page) Cmds(name string) (all []string) {
	for _, q := range p.Parts {
		all = append(all, q.Commands[name])
	}
	return all
}
