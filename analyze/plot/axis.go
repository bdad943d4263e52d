package plot

import (
	"math"
	"strconv"
)

// axis maps values to places.
type axis struct{ low, high, from, to float64 }

func newAxis(low, high, from, to float64) axis {
	if !(high > low) {
		high = low + 1
	}
	return axis{low, high, from, to}
}

// at is the place of a value. What lies beyond the axis, such as a window below zero that a file
// claims, is drawn at its edge: a canvas of pixels goes over all that a line covers.
func (a axis) at(v float64) float64 {
	place := a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
	return max(min(place, max(a.from, a.to)), min(a.from, a.to))
}

// ticks are round values within the axis, about n of them. There are never many more, also
// where the axis is so far from zero that steps are lost in rounding.
func (a axis) ticks(n int) []float64 {
	step := roundStep((a.high - a.low) / float64(n))
	first := math.Ceil(a.low / step)
	var ts []float64
	for i := range 2 * n {
		if v := (first + float64(i)) * step; v <= a.high*(1+1e-9) {
			ts = append(ts, v)
		}
	}
	return ts
}

// roundStep is 1, 2 or 5 times a power of ten, not below v.
func roundStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// roundUp is the end of an axis that shows v.
func roundUp(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	step := roundStep(v / 6)
	return math.Ceil(v/step*(1-1e-9)) * step
}

func label(v float64) string { return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64) }
