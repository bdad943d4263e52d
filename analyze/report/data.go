package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/story"
)

// Data is what the script of the page draws.
type Data struct {
	Begin   float64   `json:"begin"`   // of the first column, seconds since the recording began
	Seconds float64   `json:"seconds"` // of a column of the lines below
	Events  []Series  `json:"events"`
	Bytes   []Series  `json:"bytes"`
	Trouble []Series  `json:"trouble"`
	Own     []Series  `json:"own"`
	Drops   []Series  `json:"drops"`
	Heats   []*Heat   `json:"heats"`
	Sockets []*Socket `json:"sockets"`
}

// Socket is one socket with its story.
type Socket struct {
	Label  string      `json:"label,omitempty"` // of its recording, where there are several
	Name   string      `json:"name"`
	Facts  [][2]string `json:"facts"`
	Story  []StoryLine `json:"story"`
	Cut    int64       `json:"cut"`    // lines left out, after line CutAt
	CutAt  int         `json:"cut_at"` //
	Late   bool        `json:"late"`   // the beginning of the story is missing
	Cmd    string      `json:"cmd"`
	Course *Course     `json:"course"`
	WinCmd string      `json:"win_cmd"`
	From   float64     `json:"from"` // seconds of its first and newest row
	To     float64     `json:"to"`

	// For the tables.
	Who, Local, Remote, State    string `json:"-"`
	Tx, Rx, Rows                 int64  `json:"-"`
	Retrans, Drops, Zero, Failed int64  `json:"-"`
	Index                        int    `json:"-"`
}

// StoryLine is time in seconds, process, event and words.
type StoryLine [4]any

// Course is how the windows of a session went. Values are lowest, highest and last of
// each bucket, so that no extreme is lost.
type Course struct {
	X         []float64 `json:"x"` // seconds since the start of the recording
	Low       []int64   `json:"low"`
	High      []int64   `json:"high"`
	Last      []int64   `json:"last"`
	Threshold []*int64  `json:"threshold"` // null while none is set
	Buffer    []int64   `json:"buffer"`    // bytes
	Marks     []float64 `json:"marks"`     // retransmitted buffers
	Unmarked  int64     `json:"unmarked"`  // of them without a mark
	Each      float64   `json:"each"`      // seconds of a bucket
}

// shownMarks is how many retransmitted buffers a picture marks.
const shownMarks = 500

// unset is the slow start threshold of a session that has lost nothing yet.
const unset = 1<<31 - 1

// since is a time in seconds after the start of the recording, or of the first of several.
func (f *fold) since(ts int64) float64 {
	return float64((ts-f.zero())/1000) / 1e6
}

func (f *fold) socket(t *tale) *Socket {
	s := &t.sock
	v := &Socket{Who: "unknown", Local: safe(render.Endpoint(s.Laddr, s.Lport)), Remote: safe(render.Endpoint(s.Raddr, s.Rport)), State: safe(s.State),
		Tx: t.tx, Rx: t.rx, Rows: t.rows, Retrans: t.retrans, Drops: t.drops, Zero: t.zero, Failed: t.failed, Late: t.late, From: f.since(s.First), To: f.since(max(s.Last, s.First)),
		Cmd: f.command(fmt.Sprintf("sock 0x%x --gen %d", s.Addr, s.Gen)), WinCmd: f.command(fmt.Sprintf("tcpwin --sock 0x%x --gen %d", s.Addr, s.Gen))}
	if s.Pid != 0 {
		v.Who = safe(fmt.Sprintf("%s (%d)", s.Comm, s.Pid))
	}
	switch {
	case s.Laddr == "":
		v.Name = v.Who + safe(fmt.Sprintf(" %s 0x%x", cmp.Or(s.Protocol, "socket"), s.Addr))
	case s.Rport == 0:
		v.Name = v.Who + " " + v.Local
	default:
		v.Name = v.Who + " " + v.Local + " > " + v.Remote
	}
	v.Facts = f.facts(t, v)
	head, tail, cut := t.told()
	v.Cut, v.CutAt = cut, len(head)
	for _, lines := range [][]story.Line{head, tail} {
		for _, l := range lines {
			who := ""
			if l.Pid != 0 {
				who = safe(fmt.Sprintf("%s (%d)", l.Comm, l.Pid))
			}
			v.Story = append(v.Story, StoryLine{f.since(l.TS), who, l.Event, safe(l.What)})
		}
	}
	v.Course = f.course(t)
	return v
}

func (f *fold) facts(t *tale, v *Socket) [][2]string {
	s := &t.sock
	began, ended := "before its first row", "end not recorded"
	at := func(ts int64) string { return strconv.FormatFloat(f.since(ts), 'f', 6, 64) + " s" }
	switch {
	case s.Born:
		began = at(s.First)
	case s.Older:
		began = "before the recording"
	}
	switch {
	case s.Closed != 0:
		ended = at(s.Closed)
	case s.Open:
		ended = "open at the end of the recording"
	}
	return [][2]string{{"socket", fmt.Sprintf("0x%x, generation %d", s.Addr, s.Gen)}, {"owner", v.Who}, {"protocol", safe(s.Protocol)}, {"local", v.Local}, {"remote", v.Remote},
		{"began", began}, {"ended", ended}, {"last state", v.State}, {"sent", engine.Thousands(v.Tx) + " bytes"}, {"received", engine.Thousands(v.Rx) + " bytes"},
		{"retransmitted", engine.Thousands(v.Retrans) + " " + f.sockets.again.Noun(v.Retrans)}, {"dropped", engine.Thousands(v.Drops)}, {"zero windows", engine.Thousands(v.Zero)}}
}

func (f *fold) course(t *tale) *Course {
	c := &t.course
	if len(c.Buckets) < 2 {
		return nil
	}
	v := &Course{Each: float64(c.Width) / 1e9, Unmarked: max(0, c.Buffers-shownMarks)}
	for i := range c.Buckets {
		b := &c.Buckets[i]
		v.X = append(v.X, f.since(c.From+b.At*c.Width))
		v.Low, v.High, v.Last, v.Buffer = append(v.Low, b.Low), append(v.High, b.High), append(v.Last, b.Last), append(v.Buffer, b.Limit)
		var threshold *int64
		if b.Threshold < unset {
			threshold = &b.Threshold
		}
		v.Threshold = append(v.Threshold, threshold)
	}
	for _, ts := range c.Marks[:min(len(c.Marks), shownMarks)] {
		v.Marks = append(v.Marks, f.since(ts))
	}
	return v
}

func (f *fold) command(args string) string {
	for _, word := range f.asked {
		if name, _, _ := strings.Cut(word, " "); !strings.Contains(args+" ", name+" ") {
			args += " " + word
		}
	}
	return safe(engine.Command(f.in.Meta, args))
}

// maxText is how many bytes of a string from a recording the page shows.
const maxText = 400

// safe is a string from a recording, cut, and such that no invisible character of it
// steers what is around it. It is not escaped: that is the template's and the encoder's.
func safe(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return render.Safe(s)
}
