package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // style, script and template of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/scan"
	"netrec/schema"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed uplot/uPlot.iife.min.js
	uplotJS string
	//go:embed uplot/uPlot.min.css
	uplotCSS string
	//go:embed uplot/LICENSE
	uplotLicence string
)

// Page is what the template shows.
type Page struct {
	full        *scan.Full // memory ended the reading here
	first, last int        // columns of the time line that the recording has

	Label          string  // names the recording, where there are several
	Parts          []*Page // the recordings of the page, itself if there is one
	Title, Policy  string
	Facts          [][2]string
	Limits         []Said
	Verdict        findings.Verdict
	Findings       []Finding
	Waits          *Waits // nil if no time of any connection is known
	Rules          int
	Events         []Event
	Lost           int64
	Cost           [][2]string
	Busiest, Worst []*Socket
	Sockets        int64 // all there were
	Shown          int   // most that a table shows
	Processes      []agg.Entry[process]
	Drops          []Drop
	MoreReasons    int
	Dropped        int64
	NoDrops        string // why there is nothing about drops
	NoWindows      string
	NoTrouble      bool
	Each           string // time that a point of a line stands for
	NoBytes        string
	Heats          []*Heat
	NoHeats        bool // some have nothing to show
	Commands       map[string]string
	Data           Data

	CSS             template.CSS
	UPlot, JS, JSON template.JS
	Licence         string
}

// Finding is a finding in the page.
type Finding struct {
	findings.Finding
	Label   string // of its recording, where there are several
	Command string
	Socket  int     // its position among the sockets, -1 if it is not there
	Since   float64 // seconds after the start; -1 if that is not known
}

// Event is the account of one event.
type Event struct {
	Name, Hooks string
	Rows, Lost  int64
}

// page makes what the template shows of what was read.
func (f *fold) page(said *comments) *Page {
	p := &Page{Title: "netrec: " + safe(f.in.Meta.Path), Verdict: f.verdict, Rules: len(findings.Rules), Limits: said.of("report"), Sockets: f.sockets.all, Shown: shownSockets,
		Heats: f.heats, Commands: map[string]string{}, Label: f.label}
	p.Parts = []*Page{p}
	p.Facts, p.Cost = f.recording(), f.costs()
	for i := range schema.Events {
		name := schema.Events[i].Name
		rows, lost, hooks := engine.Account(f.in.Meta, name)
		if rows > 0 || lost > 0 || hooks != "" && hooks != schema.HookNotAsked {
			p.Events, p.Lost = append(p.Events, Event{name, safe(hooks), rows, lost}), p.Lost+lost
		}
	}
	p.Processes = f.procs.Best(10, func(a, b process) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.comm, b.comm)) })
	for name, args := range map[string]string{"overview": "overview", "findings": findingsCommand(f.verdict), "busiest": "socks", "worst": "socks --sort retrans", "drops": "skbdrop",
		"events": "overview --table events", "bytes": "sockbytes --by second,dir", "trouble": "eventrates --of wrong", "rates": "eventrates", "own": "eventrates --of recorder"} {
		p.Commands[name] = f.command(args)
	}
	for _, h := range f.heats {
		h.Cmd, p.NoHeats = f.command(h.Command), p.NoHeats || h.Why != ""
	}
	f.fillSockets(p)
	f.fillDrops(p)
	t := f.timeline
	p.first, p.last = t.at(f.in.Start()), t.at(f.in.End())
	t.trouble[0].Name = t.again.Noun(2) + " retransmitted"
	p.Each, p.Data.Begin = time.Duration(t.width).String(), f.since(t.from)
	p.Data.Seconds, p.Data.Events, p.Data.Bytes, p.Data.Trouble, p.Data.Own = t.seconds(), t.busiest(), t.bytes[:], t.trouble, []Series{t.own(), t.trouble[len(t.trouble)-1]}
	p.NoTrouble, p.Data.Heats = !anything(t.trouble...), f.heats
	if !f.in.Recorded("sock_io") {
		p.NoBytes = "Bytes are unknown: event sock_io was not recorded."
	} else if !anything(t.bytes[:]...) {
		p.NoBytes = "No call sent or received anything."
	}
	return p
}

// findingsCommand shows all findings, also those that the page leaves out.
func findingsCommand(v findings.Verdict) string {
	if v.More == 0 {
		return "findings"
	}
	return fmt.Sprintf("findings --top %d", v.All())
}

// fillSockets puts busiest and worst sockets into the page, each once, and those of findings and slow
// turns, which lead to them.
func (f *fold) fillSockets(p *Page) {
	index := map[*tale]*Socket{}
	list := func(ts []*tale) (all []*Socket) {
		for _, t := range ts {
			if index[t] == nil {
				index[t] = f.socket(t)
				index[t].Index = len(p.Data.Sockets)
				p.Data.Sockets = append(p.Data.Sockets, index[t])
			}
			all = append(all, index[t])
		}
		return all
	}
	p.Worst, p.Busiest = list(most(f.sockets.worst)), list(most(f.sockets.busiest))
	for _, t := range f.sockets.suspects {
		if f.waits.has(&t.sock) || slices.ContainsFunc(f.verdict.Findings, func(v findings.Finding) bool { return v.Sock.Addr == t.sock.Addr && v.Sock.Gen == t.sock.Gen }) {
			list([]*tale{t})
		}
	}
	find := func(addr uint64, gen int) int {
		for t, s := range index {
			if addr != 0 && t.sock.Addr == addr && t.sock.Gen == gen {
				return s.Index
			}
		}
		return -1
	}
	f.fillWaits(p, find)
	for i := range f.verdict.Findings {
		v := Finding{Finding: f.verdict.Findings[i], Command: f.command(f.verdict.Findings[i].Next), Since: -1}
		v.Socket = find(v.Sock.Addr, v.Sock.Gen)
		if v.At != 0 {
			v.Since = f.since(v.At)
		}
		v.What, v.Evidence = safe(v.What), safe(v.Evidence)
		p.Findings = append(p.Findings, v)
	}
	if !f.in.Recorded("tcp_rcv_est") {
		p.NoWindows = "No window charts: event tcp_rcv_est was not recorded."
	}
}

func (f *fold) fillDrops(p *Page) {
	p.Drops, p.Data.Drops, p.MoreReasons, p.Dropped = f.drops.list()
	for i := range p.Drops {
		d := &p.Drops[i]
		d.Reason, d.Place = safe(d.Reason), safe(d.Place)
		for _, s := range d.Stacks {
			for j := range s.Frames {
				s.Frames[j] = safe(s.Frames[j])
			}
		}
	}
	switch {
	case p.Dropped > 0:
	case f.in.Recorded("skb_drop"):
		p.NoDrops = "No packet was dropped during the recording."
	default:
		p.NoDrops = "Drops are unknown: event skb_drop was not recorded."
	}
}

func (f *fold) recording() [][2]string {
	m := f.in.Meta
	rows := int64(0)
	for _, n := range m.Rows {
		rows += n
	}
	ended := cmp.Or(m.Recording.End, "not ended: killed, or still recording")
	facts := [][2]string{{"file", m.Path}, {"host", fmt.Sprintf("%s, %s, %d CPUs", m.Host.Name, m.Host.Machine, m.Host.CPUs)}, {"kernel", m.Host.Kernel},
		{"start", time.Unix(0, f.in.Start()).In(time.FixedZone(m.Host.Zone, m.Host.Offset)).Format(time.RFC3339)},
		{"length", fmt.Sprintf("%.3f s", float64(f.in.End()-f.in.Start())/1e9)}, {"ended by", ended}, {"rows", engine.Thousands(rows)}, {"size", engine.Thousands(m.OnDisk()) + " bytes"},
		{"command", strings.Join(m.Recording.Command, " ")}}
	if f.shared.to != 0 {
		facts = append(facts, [2]string{"on this page", fmt.Sprintf("%.3f s to %.3f s; findings and commands count from its own start", f.since(f.in.Start()), f.since(f.in.End()))})
	}
	for i := range facts {
		facts[i][1] = safe(facts[i][1])
	}
	return facts
}

func (f *fold) costs() [][2]string {
	c := f.spent
	if c.CPU == 0 {
		return nil
	}
	cpu := fmt.Sprintf("%.2f s with setting up", float64(c.CPU)/1e9)
	if c.To-c.From >= 1e8 { // less than a tenth of a second says nothing
		cpu += fmt.Sprintf("; %.1f %% of one CPU from %.1f s to %.1f s", 100*float64(c.CPU-c.Before)/float64(c.To-c.From), f.since(c.From), f.since(c.To))
	}
	facts := [][2]string{{"CPU", cpu},
		{"memory", fmt.Sprintf("%.1f MiB at most", float64(c.RSS)/(1<<20))}, {"file", engine.Thousands(c.File) + " bytes"}}
	if total := c.Total().String(); total != "" {
		facts = append(facts, [2]string{"together", total})
	}
	return facts
}

// policy is the Content-Security-Policy: the script and style of the page by their hash,
// and nothing else from anywhere.
func policy(css string, scripts ...string) string {
	hash := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
	}
	p := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src" + hash(css) + "; script-src"
	for _, s := range scripts {
		p += hash(s)
	}
	return p
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"group": engine.Thousands, "comm": func(p process) string { return safe(p.comm) },
	"pid": func(p process) int64 { return p.pid }, "span": span}).Parse(pageHTML))

// span is nanoseconds for people.
func span(ns float64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

func (p *Page) write(w io.Writer) error {
	b, err := json.Marshal(&p.Data)
	if err != nil {
		return fmt.Errorf("data of the page: %w", err)
	}
	css := uplotCSS + pageCSS
	p.CSS, p.UPlot, p.JS, p.JSON, p.Licence = template.CSS(css), template.JS(uplotJS), template.JS(pageJS), template.JS(b), uplotLicence
	p.Policy = policy(css, uplotJS, pageJS)
	var buf bytes.Buffer
	if err := pageTemplate.Execute(&buf, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}
