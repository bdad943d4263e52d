package schema

import (
	"fmt"
	"math"
	"strings"
)

// Spent is what a recording used, and of what; zero where that is not known.
type Spent struct {
	CPUs     int   // of the host, online
	Length   int64 // of the recording, ns
	Noted    int64 // from the first to the last row of event cost, ns
	Recorder int64 // CPU time of the recorder between the two, ns
	Bytes    int64 // of its files
	Probes   ProbeTime
}

// ProbeTime estimates how long probes ran: nobody counts their runs, but their rows are known, and
// what a row of each event took elsewhere.
type ProbeTime struct {
	NS   float64
	Rows int64
	More bool // they also ran for what was left out of the recording, or for events that were not measured
}

// Add takes rows that the probes of an event have made, whether or not they reached the file; of an
// event that counts, hits.
func (p *ProbeTime) Add(e *Event, rows int64) {
	if rows <= 0 || e.Own() {
		return
	}
	ns, measured := probeNS[e.Name]
	if !measured {
		p.More = true
		return
	}
	p.Rows += rows
	p.NS += float64(rows) * float64(ns)
}

// Pass takes runs of probes that made no row because a budget left it out.
func (p *ProbeTime) Pass(runs int64) { p.NS += float64(max(runs, 0)) * PassedConnNS }

// RecorderPercent is the recorder's share of the host's CPU time.
func (s *Spent) RecorderPercent() float64 { return s.percent(float64(s.Recorder), s.Noted) }

// ProbesPercent is the share of the probes, as estimated.
func (s *Spent) ProbesPercent() float64 { return s.percent(s.Probes.NS, s.Length) }

// percent is 0 also where the numbers make no sense: files come from anywhere.
func (s *Spent) percent(used float64, ns int64) float64 {
	if s.CPUs <= 0 || ns <= 0 {
		return 0
	}
	if p := 100 * used / (float64(s.CPUs) * float64(ns)); p > 0 && p <= 100 {
		return p
	}
	return 0
}

// BytesPerSecond is how fast the files grew.
func (s *Spent) BytesPerSecond() int64 {
	if s.Bytes <= 0 || s.Length <= 0 {
		return 0
	}
	return int64(math.Round(float64(s.Bytes) * 1e9 / float64(s.Length)))
}

// String tells what is known, "" for nothing.
func (s *Spent) String() string {
	var known []string
	of := " of the host's CPU time"
	if p := s.RecorderPercent(); p > 0 {
		known = append(known, "recorder "+percentText(p)+of)
		of = ""
	}
	if p := s.ProbesPercent(); p >= leastPercent && s.Probes.More {
		known = append(known, "probes about "+percentText(p)+" or more"+of+" (estimated)")
	} else if p > 0 && !s.Probes.More {
		known = append(known, "probes about "+percentText(p)+of+" (estimated)")
	}
	if b := s.BytesPerSecond(); b > 0 {
		known = append(known, rateText(float64(b))+" written")
	}
	return strings.Join(known, ", ")
}

// leastPercent is the least share that is worth a number.
const leastPercent = 0.01

func percentText(p float64) string {
	switch {
	case p < leastPercent:
		return "0 %"
	case p < 1:
		return fmt.Sprintf("%.2f %%", p)
	}
	return fmt.Sprintf("%.1f %%", p)
}

func rateText(bytes float64) string {
	switch {
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB/s", bytes/1e6)
	case bytes >= 1e3:
		return fmt.Sprintf("%.1f kB/s", bytes/1e3)
	}
	return fmt.Sprintf("%.0f B/s", bytes)
}
