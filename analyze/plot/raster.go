package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
)

// raster draws on pixels, smoothing edges.
type raster struct {
	img   *image.RGBA
	scale float64
}

func newRaster(scale float64) *raster {
	r := &raster{image.NewRGBA(image.Rect(0, 0, int(width*scale), int(height*scale))), scale}
	draw.Draw(r.img, r.img.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

func (r *raster) write(w io.Writer) error { return png.Encode(w, r.img) }

// dot mixes a color into a pixel by how much of it is covered.
func (r *raster) dot(x, y int, c Color, cover float64) {
	if cover <= 0 || !(image.Point{X: x, Y: y}).In(r.img.Bounds()) {
		return
	}
	was := r.img.RGBAAt(x, y)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*min(cover, 1) + 0.5) }
	r.img.SetRGBA(x, y, color.RGBA{mix(was.R, c.R), mix(was.G, c.G), mix(was.B, c.B), 0xff})
}

// stroke draws a straight piece: every pixel by its distance from it.
func (r *raster) stroke(a, b Point, c Color, width float64) {
	half := width / 2
	dx, dy := b.X-a.X, b.Y-a.Y
	long := dx*dx + dy*dy
	for y := int(math.Floor(min(a.Y, b.Y) - half - 1)); y <= int(math.Ceil(max(a.Y, b.Y)+half+1)); y++ {
		for x := int(math.Floor(min(a.X, b.X) - half - 1)); x <= int(math.Ceil(max(a.X, b.X)+half+1)); x++ {
			px, py := float64(x)+0.5-a.X, float64(y)+0.5-a.Y
			t := 0.0
			if long > 0 {
				t = max(0, min(1, (px*dx+py*dy)/long))
			}
			r.dot(x, y, c, half+0.5-math.Hypot(px-t*dx, py-t*dy))
		}
	}
}

func (r *raster) scaled(p Point) Point { return Point{p.X * r.scale, p.Y * r.scale} }

// Lengths of a dash and of the gap after it.
const dash, gap = 6.0, 4.0

func (r *raster) line(ps []Point, c Color, width float64, dashed bool) {
	gone := 0.0 // of the pattern of dashes
	for i := 1; i < len(ps); i++ {
		a, b := ps[i-1], ps[i]
		if !dashed {
			r.stroke(r.scaled(a), r.scaled(b), c, width*r.scale)
			continue
		}
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		for at := 0.0; at < length; {
			in := math.Mod(gone+at, dash+gap)
			step := min(length-at, dash-in)
			if in >= dash {
				step = min(length-at, dash+gap-in)
			}
			step = max(step, 0.01)
			if in < dash {
				on := func(d float64) Point { return Point{a.X + (b.X-a.X)*d/length, a.Y + (b.Y-a.Y)*d/length} }
				r.stroke(r.scaled(on(at)), r.scaled(on(min(at+step, length))), c, width*r.scale)
			}
			at += step
		}
		gone += length
	}
}

// fill fills a convex shape: a pixel is inside if it is on one side of all edges.
func (r *raster) fill(ps []Point, c Color) {
	low, high := r.scaled(ps[0]), r.scaled(ps[0])
	for _, p := range ps {
		q := r.scaled(p)
		low, high = Point{min(low.X, q.X), min(low.Y, q.Y)}, Point{max(high.X, q.X), max(high.Y, q.Y)}
	}
	for y := int(low.Y) - 1; y <= int(high.Y)+1; y++ {
		for x := int(low.X) - 1; x <= int(high.X)+1; x++ {
			cover := 1.0
			for i := range ps {
				a, b := r.scaled(ps[i]), r.scaled(ps[(i+1)%len(ps)])
				d := ((b.X-a.X)*(float64(y)+0.5-a.Y) - (b.Y-a.Y)*(float64(x)+0.5-a.X)) / math.Hypot(b.X-a.X, b.Y-a.Y)
				cover = min(cover, d+0.5)
			}
			r.dot(x, y, c, cover)
		}
	}
}

func (r *raster) text(x, y float64, s string, c Color, at anchor, upright bool) {
	shift := -textWidth(s) * float64(at) / 2
	for _, g := range s {
		for _, stroke := range glyph(g) {
			for i := 1; i < len(stroke); i++ {
				a, b := letter(x, y, shift, stroke[i-1], upright), letter(x, y, shift, stroke[i], upright)
				r.stroke(r.scaled(a), r.scaled(b), c, 1.1*r.scale)
			}
		}
		shift += advance
	}
}

// letter is the place of a point of a glyph.
func letter(x, y, shift float64, p Point, upright bool) Point {
	along, above := shift+p.X*unit, (baseline-p.Y)*unit
	if upright {
		return Point{x - above, y - along}
	}
	return Point{x + along, y - above}
}
