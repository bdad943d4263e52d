package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
)

// svgCanvas writes elements.
type svgCanvas struct{ b bytes.Buffer }

func newSVG() *svgCanvas {
	c := &svgCanvas{}
	fmt.Fprintf(&c.b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"%g\">\n",
		width, height, width, height, fontSize)
	fmt.Fprintf(&c.b, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	return c
}

func (c *svgCanvas) write(w io.Writer) error {
	c.b.WriteString("</svg>\n")
	_, err := w.Write(c.b.Bytes())
	return err
}

func (c Color) hex() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (c *svgCanvas) points(ps []Point) {
	for i, p := range ps {
		if i > 0 {
			c.b.WriteByte(' ')
		}
		c.b.WriteString(place(p.X) + "," + place(p.Y))
	}
}

// place is a coordinate to a tenth.
func place(v float64) string { return strconv.FormatFloat(float64(int64(v*10+0.5))/10, 'f', -1, 64) }

func (c *svgCanvas) line(ps []Point, col Color, width float64, dashed bool) {
	c.b.WriteString("<polyline points=\"")
	c.points(ps)
	fmt.Fprintf(&c.b, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\"", col.hex(), width)
	if dashed {
		c.b.WriteString(" stroke-dasharray=\"6 4\"")
	}
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) fill(ps []Point, col Color) {
	c.b.WriteString("<polygon points=\"")
	c.points(ps)
	fmt.Fprintf(&c.b, "\" fill=\"%s\"/>\n", col.hex())
}

func (c *svgCanvas) text(x, y float64, s string, col Color, at anchor, upright bool) {
	anchors := [...]string{"start", "middle", "end"}
	fmt.Fprintf(&c.b, "<text x=\"%s\" y=\"%s\" fill=\"%s\" text-anchor=\"%s\"", place(x), place(y), col.hex(), anchors[at])
	if upright {
		fmt.Fprintf(&c.b, " transform=\"rotate(-90 %s %s)\"", place(x), place(y))
	}
	c.b.WriteByte('>')
	_ = xml.EscapeText(&c.b, []byte(s)) // a buffer takes everything
	c.b.WriteString("</text>\n")
}
