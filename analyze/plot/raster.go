package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster draws shapes on pixels.
type raster struct {
	img   *image.RGBA
	scale float64
	path  []segment // shapes that paint fills
	brush vector.Rasterizer
	glyph sfnt.Buffer
}

// segment is a step of an outline, in pixels: to is where it ends.
type segment struct {
	op      sfnt.SegmentOp
	via, to pixel
}

type pixel struct{ x, y float32 }

func newRaster(scale float64) *raster {
	w, h := int(width*scale), int(height*scale)
	r := &raster{img: image.NewRGBA(image.Rect(0, 0, w, h)), scale: scale}
	draw.Draw(r.img, r.img.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

func (r *raster) write(w io.Writer) error { return png.Encode(w, r.img) }

// at is a place of the figure on the picture.
func (r *raster) at(p Point) pixel { return pixel{float32(p.X * r.scale), float32(p.Y * r.scale)} }

// outline adds a closed shape to what paint fills.
func (r *raster) outline(ps ...Point) {
	r.path = append(r.path, segment{op: sfnt.SegmentOpMoveTo, to: r.at(ps[0])})
	for _, p := range ps[1:] {
		r.path = append(r.path, segment{op: sfnt.SegmentOpLineTo, to: r.at(p)})
	}
}

// bounds are the pixels that the shapes touch.
func (r *raster) bounds() image.Rectangle {
	var b image.Rectangle
	for _, s := range r.path {
		for _, p := range []pixel{s.to, s.via} {
			if p != (pixel{}) {
				x, y := int(p.x), int(p.y)
				b = b.Union(image.Rect(x-1, y-1, x+2, y+2))
			}
		}
	}
	return b.Intersect(r.img.Bounds())
}

// paint fills the shapes added since the last time.
func (r *raster) paint(c Color) {
	b := r.bounds()
	dx, dy := float32(b.Min.X), float32(b.Min.Y)
	r.brush.Reset(b.Dx(), b.Dy())
	for _, s := range r.path {
		switch s.op {
		case sfnt.SegmentOpMoveTo:
			r.brush.ClosePath()
			r.brush.MoveTo(s.to.x-dx, s.to.y-dy)
		case sfnt.SegmentOpLineTo:
			r.brush.LineTo(s.to.x-dx, s.to.y-dy)
		case sfnt.SegmentOpQuadTo:
			r.brush.QuadTo(s.via.x-dx, s.via.y-dy, s.to.x-dx, s.to.y-dy)
		}
	}
	r.brush.ClosePath()
	r.brush.Draw(r.img, b, image.NewUniform(color.RGBA{c.R, c.G, c.B, 0xff}), image.Point{})
	r.path = r.path[:0]
}

// stroke adds a straight piece, a little longer than it is so that pieces join.
func (r *raster) stroke(a, b Point, width float64) {
	length := math.Hypot(b.X-a.X, b.Y-a.Y)
	if length == 0 {
		return
	}
	dx, dy := (b.X-a.X)/length*width/2, (b.Y-a.Y)/length*width/2
	a, b = Point{a.X - dx/2, a.Y - dy/2}, Point{b.X + dx/2, b.Y + dy/2}
	r.outline(Point{a.X - dy, a.Y + dx}, Point{b.X - dy, b.Y + dx}, Point{b.X + dy, b.Y - dx}, Point{a.X + dy, a.Y - dx})
}

// Lengths of a dash and of the gap after it.
const dash, gap = 6.0, 4.0

func (r *raster) line(ps []Point, c Color, width float64, dashed bool) {
	gone := 0.0 // of the pattern of dashes
	for i := 1; i < len(ps); i++ {
		a, b := ps[i-1], ps[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		on := func(d float64) Point { return Point{a.X + (b.X-a.X)*d/length, a.Y + (b.Y-a.Y)*d/length} }
		switch {
		case !dashed:
			r.stroke(a, b, width)
		case length > 0:
			for at := -math.Mod(gone, dash+gap); at < length; at += dash + gap {
				if from, to := max(at, 0), min(at+dash, length); from < to {
					r.stroke(on(from), on(to), width)
				}
			}
		}
		gone += length
	}
	r.paint(c)
}

func (r *raster) fill(ps []Point, c Color) {
	r.outline(ps...)
	r.paint(c)
}

// letters are Go's own font.
var letters = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	return f
})

func (r *raster) text(x, y float64, s string, c Color, at anchor, upright bool) {
	const unit = 64 // of fixed-point numbers
	f, size := letters(), fixed.Int26_6(fontSize*unit)
	wide := 0.0
	for pass := range 2 { // the first only measures
		along := -wide * float64(at) / 2
		for _, letter := range s {
			g, err := f.GlyphIndex(&r.glyph, letter)
			if err != nil {
				continue
			}
			step, err := f.GlyphAdvance(&r.glyph, g, size, font.HintingNone)
			if err != nil {
				continue
			}
			if pass == 1 {
				r.letter(f, g, size, func(p fixed.Point26_6) pixel {
					right, down := along+float64(p.X)/unit, float64(p.Y)/unit
					if upright {
						return r.at(Point{x + down, y - right})
					}
					return r.at(Point{x + right, y + down})
				})
			}
			along += float64(step) / unit
		}
		wide = along
	}
	r.paint(c)
}

// letter adds the outline of a glyph, whose points place puts on the picture.
func (r *raster) letter(f *sfnt.Font, g sfnt.GlyphIndex, size fixed.Int26_6, place func(fixed.Point26_6) pixel) {
	outline, err := f.LoadGlyph(&r.glyph, g, size, nil)
	if err != nil {
		return
	}
	for _, s := range outline {
		step := segment{op: s.Op, to: place(s.Args[0])}
		if s.Op == sfnt.SegmentOpQuadTo {
			step.via, step.to = step.to, place(s.Args[1])
		}
		r.path = append(r.path, step)
	}
}
