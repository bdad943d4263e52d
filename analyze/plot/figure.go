package plot

import (
	"io"
	"math"
	"unicode/utf8"
)

// Figure is curves over a common time, with an axis on each side.
type Figure struct {
	Title         string
	X             string // name of the time axis
	Left, Right   string // names of the axes of values
	Curves        []Curve
	Marks         []float64 // times of single events
	MarksName     string
	MarksColor    Color
	Begin, Finish float64 // of the time axis
}

// Curve is one quantity over time.
type Curve struct {
	Name   string
	Color  Color
	Right  bool // belongs to the axis on the right
	Dashed bool
	Points []Point
}

// Point is a value at a time. A value that is not a number leaves a gap.
type Point struct{ X, Y float64 }

// Color is red, green and blue.
type Color struct{ R, G, B uint8 }

// Size of a figure, in the units of SVG; a PNG has twice as many pixels.
const (
	width, height             = 1000, 560
	left, right, top, bottom  = 78, 84, 66, 56
	plotWidth, plotHeight     = width - left - right, height - top - bottom
	fontSize                  = 12.0
	markHeight, markHalfWidth = 9.0, 4.0
)

var (
	black = Color{0x22, 0x22, 0x22}
	grey  = Color{0xdd, 0xdd, 0xdd}
)

// canvas is what a figure is drawn on.
type canvas interface {
	line(ps []Point, c Color, width float64, dashed bool)
	fill(ps []Point, c Color)
	// text is placed by its baseline: at its begin, middle or end. Upright text runs
	// from below to above.
	text(x, y float64, s string, c Color, at anchor, upright bool)
}

type anchor uint8

const (
	atBegin anchor = iota
	atMiddle
	atEnd
)

// SVG writes the figure as SVG.
func (f *Figure) SVG(w io.Writer) error {
	c := newSVG()
	f.draw(c)
	return c.write(w)
}

// PNG writes the figure as PNG.
func (f *Figure) PNG(w io.Writer) error {
	c := newRaster(2)
	f.draw(c)
	return c.write(w)
}

func (f *Figure) draw(c canvas) {
	x := newAxis(f.Begin, f.Finish, left, left+plotWidth)
	ys := [2]axis{f.values(false), f.values(true)}
	f.grid(c, x, ys)
	for _, t := range f.Marks {
		at := x.at(t)
		c.fill([]Point{{at - markHalfWidth, top - markHeight}, {at + markHalfWidth, top - markHeight}, {at, top}}, f.MarksColor)
	}
	for i := range f.Curves {
		k := &f.Curves[i]
		y := ys[0]
		if k.Right {
			y = ys[1]
		}
		k.draw(c, x, y)
	}
	c.text(left, 22, f.Title, black, atBegin, false)
	f.legend(c)
}

// values is the axis for the curves of one side; it begins at zero.
func (f *Figure) values(onRight bool) axis {
	most := 0.0
	for i := range f.Curves {
		if f.Curves[i].Right != onRight {
			continue
		}
		for _, p := range f.Curves[i].Points {
			if !math.IsNaN(p.Y) {
				most = max(most, p.Y)
			}
		}
	}
	return newAxis(0, roundUp(most*1.04), top+plotHeight, top)
}

func (f *Figure) grid(c canvas, x axis, ys [2]axis) {
	for _, v := range x.ticks(10) {
		at := x.at(v)
		c.line([]Point{{at, top}, {at, top + plotHeight}}, grey, 1, false)
		c.text(at, top+plotHeight+18, label(v), black, atMiddle, false)
	}
	for _, v := range ys[0].ticks(6) {
		at := ys[0].at(v)
		c.line([]Point{{left, at}, {left + plotWidth, at}}, grey, 1, false)
		c.text(left-8, at+4, label(v), black, atEnd, false)
	}
	if f.Right != "" {
		for _, v := range ys[1].ticks(6) {
			at := ys[1].at(v)
			c.line([]Point{{left + plotWidth, at}, {left + plotWidth + 4, at}}, black, 1, false)
			c.text(left+plotWidth+8, at+4, label(v), black, atBegin, false)
		}
		c.text(width-14, top+plotHeight/2, f.Right, black, atMiddle, true)
	}
	c.text(left+plotWidth/2, height-14, f.X, black, atMiddle, false)
	c.text(20, top+plotHeight/2, f.Left, black, atMiddle, true)
	c.line([]Point{{left, top}, {left, top + plotHeight}, {left + plotWidth, top + plotHeight}, {left + plotWidth, top}, {left, top}}, black, 1, false)
}

func (k *Curve) draw(c canvas, x, y axis) {
	var run []Point
	for _, p := range append(k.Points[:len(k.Points):len(k.Points)], Point{Y: math.NaN()}) {
		if !math.IsNaN(p.Y) {
			run = append(run, Point{x.at(p.X), y.at(p.Y)})
			continue
		}
		if len(run) == 1 { // a single value would not be seen
			run = append(run, Point{run[0].X + 1.5, run[0].Y})
		}
		if len(run) > 0 {
			c.line(run, k.Color, 1.5, k.Dashed)
		}
		run = nil
	}
}

func (f *Figure) legend(c canvas) {
	x := float64(left)
	for i := range f.Curves {
		k := &f.Curves[i]
		c.line([]Point{{x, 40}, {x + 26, 40}}, k.Color, 2.5, k.Dashed)
		c.text(x+32, 44, k.Name, black, atBegin, false)
		x += 32 + textWidth(k.Name) + 24
	}
	if len(f.Marks) > 0 {
		c.fill([]Point{{x, 36}, {x + 2*markHalfWidth, 36}, {x + markHalfWidth, 36 + markHeight}}, f.MarksColor)
		c.text(x+16, 44, f.MarksName, black, atBegin, false)
	}
}

// textWidth is how wide a text is, in both formats near enough.
func textWidth(s string) float64 { return float64(utf8.RuneCountInString(s)) * 7.56 }
