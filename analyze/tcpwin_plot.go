package analyze

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/plot"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// winPlot draws the window of one session into a file.
type winPlot struct {
	winPlots
	in    *engine.Input
	path  string
	again *engine.Resent

	SndNxt scan.Int
}

func newWinPlot(in *engine.Input, path string) *winPlot {
	f := &winPlot{in: in, path: path, again: in.Resent()}
	in.Bind(f)
	return f
}

func (p *winPlot) rcv(r *engine.Row, c *winRows) {
	w := p.series(r.Sock)
	w.rows++
	w.upTo(uint32(r.Int(p.SndNxt)))
	w.Add(winBuckets, r.TS, r.Int(c.SndCwnd), r.Int(c.SndSsthresh), r.Int(c.SkSndbuf))
}

func (p *winPlot) retrans(r *engine.Row) {
	if n := p.again.Segments(r); n > 0 {
		p.series(r.Sock).Mark(r.TS, n)
	}
}

// unsetThreshold is the slow start threshold of a session that has not lost anything yet.
const unsetThreshold = math.MaxInt32

func (p *winPlot) finish(a *render.Answer) {
	s := p.sender()
	if s == nil {
		return
	}
	if err := p.write(s); err != nil {
		a.Note(fmt.Sprintf("no picture: %v", err))
		return
	}
	render.ListOf(p.in.Table, render.Spec{Name: "plot"}, append([]render.Field[winSeries]{
		render.Text("file", func(*winSeries) string { return p.path }).Text("FILE", -20),
		render.Address("sock", func(s *winSeries) uint64 { return s.sock.Addr }).Text("SOCK", -18),
		render.Num("generation", func(s *winSeries) int64 { return int64(s.sock.Gen) }).Text("GEN", 3),
		render.Num("rows", func(s *winSeries) int64 { return s.rows }).Text("ROWS", 8),
		render.Num("sent_bytes", func(s *winSeries) int64 { return s.sent }).Text("SENT_B", 10).In("bytes"),
		render.Num("retransmits", func(s *winSeries) int64 { return s.Resent }).Text("RETR", 5).In("segments"),
	}, render.Within(func(s *winSeries) *agg.Socket { return &s.sock }, line.EndFields...)...)...).Add(s)
	a.Note("drawn: the side that sent most, because its congestion window matters; --sock draws another")
	p.again.Note(a)
	a.Note(fmt.Sprintf("its rows: tcpwin --sock 0x%x --gen %d", s.sock.Addr, s.sock.Gen))
	if s.late {
		a.Note("the start of the session is not drawn: other sessions had more rows at that time")
	}
	if n := s.Buffers - int64(len(s.Marks)); n > 0 {
		a.Note(engine.Plural(n, "retransmitted buffer", "retransmitted buffers") + " not marked: too many")
	}
}

// write makes the file. Its name says which kind of picture is wanted.
func (p *winPlot) write(s *winSeries) error {
	f := p.figure(s)
	drawing := map[string]func(io.Writer) error{".svg": f.SVG, ".png": f.PNG}[strings.ToLower(filepath.Ext(p.path))]
	if drawing == nil {
		return fmt.Errorf("%s: the name ends neither in .svg nor in .png", p.path)
	}
	w, err := os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(drawing(w), w.Close())
}

func (p *winPlot) figure(s *winSeries) *plot.Figure {
	window := plot.Curve{Name: "congestion window", Color: plot.Color{R: 0x1f, G: 0x6f, B: 0xb4}}
	threshold := plot.Curve{Name: "slow start threshold", Color: plot.Color{R: 0xd9, G: 0x82, B: 0x2b}, Dashed: true}
	buffer := plot.Curve{Name: "send buffer", Color: plot.Color{R: 0x3a, G: 0x9a, B: 0x5b}, Right: true}
	at := func(ts int64) float64 { return float64(ts-p.in.Start()) / 1e9 }
	var end float64
	for i := range s.Buckets {
		b := &s.Buckets[i]
		x := at(s.From + b.At*s.Width)
		for _, v := range [...]int64{b.First, b.Low, b.High, b.Last} {
			if n := len(window.Points); n == 0 || window.Points[n-1] != (plot.Point{X: x, Y: float64(v)}) {
				window.Points = append(window.Points, plot.Point{X: x, Y: float64(v)})
			}
		}
		limit := math.NaN()
		if b.Threshold < unsetThreshold {
			limit = float64(b.Threshold)
		}
		threshold.Points = append(threshold.Points, plot.Point{X: x, Y: limit})
		buffer.Points = append(buffer.Points, plot.Point{X: x, Y: float64(b.Limit) / 1024})
		end = x
	}
	f := &plot.Figure{Title: p.title(s), X: "time since the start of the recording (s)", Left: "segments", Right: "KiB", Curves: []plot.Curve{window, threshold, buffer},
		Begin: at(s.From), Finish: end, MarksName: "retransmission", MarksColor: plot.Color{R: 0xc0, G: 0x39, B: 0x2b}}
	for _, ts := range s.Marks {
		if x := at(ts); x >= f.Begin {
			f.Marks, f.Finish = append(f.Marks, x), max(f.Finish, x)
		}
	}
	return f
}

func (p *winPlot) title(s *winSeries) string {
	t := fmt.Sprintf("socket 0x%x", s.sock.Addr)
	if s.sock.Tuple() {
		t = render.Endpoint(s.sock.Laddr, s.sock.Lport) + " > " + render.Endpoint(s.sock.Raddr, s.sock.Rport)
	}
	if s.sock.Comm != "" {
		t += fmt.Sprintf(" (%s, pid %d)", s.sock.Comm, s.sock.Pid)
	}
	return string(render.AppendSafe(nil, t))
}
