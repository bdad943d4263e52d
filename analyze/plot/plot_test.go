package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

func sawtooth() *Figure {
	f := &Figure{Title: "10.0.0.1:40000 > 10.0.0.2:443 <&\"", X: "time (s)", Left: "segments", Right: "KiB", Finish: 10,
		Marks: []float64{2, 4, 6}, MarksName: "retransmission", MarksColor: Color{0xc0, 0x39, 0x2b}}
	blue, green := Curve{Name: "window", Color: Color{0x1f, 0x6f, 0xb4}}, Curve{Name: "buffer", Color: Color{0x3a, 0x9a, 0x5b}, Right: true, Dashed: true}
	for i := range 100 {
		x := float64(i) / 10
		blue.Points = append(blue.Points, Point{x, 10 + math.Mod(x, 2)*40})
		y := 500.0
		if i > 40 && i < 60 {
			y = math.NaN()
		}
		green.Points = append(green.Points, Point{x, y})
	}
	f.Curves = []Curve{blue, green}
	return f
}

func TestSVGIsWellFormed(t *testing.T) {
	var b bytes.Buffer
	if err := sawtooth().SVG(&b); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for d := xml.NewDecoder(&b); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
	}
	// Three marks and one in the legend; the gap makes two curves of one.
	if counts["svg"] != 1 || counts["polygon"] != 4 || counts["polyline"] < 5 {
		t.Errorf("elements %v", counts)
	}
}

func TestPNGShowsTheCurve(t *testing.T) {
	var b bytes.Buffer
	if err := sawtooth().PNG(&b); err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("NETREC_PLOT"); path != "" { // to look at
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	blue := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, bl, _ := img.At(x, y).RGBA(); r>>8 == 0x1f && g>>8 == 0x6f && bl>>8 == 0xb4 {
				blue++
			}
		}
	}
	if blue < 2000 {
		t.Errorf("%d pixels of the curve's color", blue)
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		want      string
	}{{0, 10, "0 1 2 3 4 5 6 7 8 9 10"}, {0.5, 1.3, "0.5 0.6 0.7 0.8 0.9 1 1.1 1.2 1.3"}, {0, 0, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"}} {
		var got []string
		for _, v := range newAxis(tt.low, tt.high, 0, 1).ticks(10) {
			got = append(got, label(v))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%v to %v: %s, want %s", tt.low, tt.high, s, tt.want)
		}
	}
	if roundUp(0) != 1 || roundUp(61) != 80 || roundUp(60) != 60 {
		t.Errorf("ends of axes %v %v %v", roundUp(0), roundUp(61), roundUp(60))
	}
}

// TestFarBeyondTheAxes: a file may claim any window at any time. The picture is drawn in no
// longer than others, and nothing of it lies outside.
func TestFarBeyondTheAxes(t *testing.T) {
	f := sawtooth()
	f.Begin, f.Finish = 4.6e9, math.Nextafter(4.6e9, 5e9)
	for i := range f.Curves {
		for j, y := range []float64{math.MinInt64, math.MaxInt64, -1, math.MinInt64} {
			f.Curves[i].Points[j] = Point{float64(j) * 1e18, y}
		}
	}
	if err := f.PNG(io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := len(newAxis(f.Begin, f.Finish, 0, 1).ticks(10)); n > 20 {
		t.Errorf("%d ticks", n)
	}
	a := newAxis(0, 10, 500, 100)
	for v, want := range map[float64]float64{-1e18: 500, 0: 500, 5: 300, 10: 100, 1e18: 100} {
		if got := a.at(v); got != want {
			t.Errorf("%g is at %g, want %g", v, got, want)
		}
	}
}
