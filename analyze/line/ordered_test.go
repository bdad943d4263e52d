package line

import (
	"slices"
	"testing"
)

// TestOrdered: lines come in the order of adding, each once, however late they are
// completed; beyond the limit the first goes as it is.
func TestOrdered(t *testing.T) {
	var got []int
	o := InOrder[int]{Write: func(v *int) { got = append(got, *v) }}
	a := o.Add(1, false)
	b := o.Add(2, true)
	c := o.Add(3, false)
	if len(got) != 0 {
		t.Errorf("written early: %v", got)
	}
	o.Complete(c, func(v *int) { *v = 30 })
	o.Complete(a, func(v *int) { *v = 10 })
	o.Complete(b, func(v *int) { *v = 99 })
	if !slices.Equal(got, []int{10, 2, 30}) {
		t.Errorf("got %v", got)
	}
	got = nil
	first := o.Add(0, false)
	for i := range maxOrdered + 5 {
		o.Add(i+1, false)
	}
	o.Complete(first, func(v *int) { *v = -1 })
	if len(o.queue) > maxOrdered || !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("%d wait, written %v", len(o.queue), got)
	}
	o.Rest()
	if len(got) != maxOrdered+6 || got[len(got)-1] != maxOrdered+5 {
		t.Errorf("%d lines, last %d", len(got), got[len(got)-1])
	}
}
