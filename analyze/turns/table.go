package turns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"netrec/analyze/agg"
	"netrec/analyze/render"
)

// Columns are where the time went: shares for people, nanoseconds for programs.
func Columns() []render.Column {
	cols := []render.Column{render.Col("where", render.String).Text("WHERE THE TIME WENT", 0).ForPeople()}
	for w := range Waits {
		cols = append(cols, render.Col(strings.ReplaceAll(w.String(), " ", "_")+"_ns", render.Int).In("ns"))
	}
	return cols
}

// Put writes those columns, for people in so many characters; 0 for any number.
func (s *Split) Put(t *render.Table, width int) {
	t.Str(s.SharesIn(width))
	for _, ns := range s {
		t.Int(ns)
	}
}

// Shares lists what took longest first, and idle last, which says least. Shares are rounded so
// that they make a hundred.
func (s *Split) Shares() string {
	total, left := s.Total(), int64(1000)
	type share struct {
		w        Wait
		mille, r int64
	}
	var shares []share
	for w, ns := range s {
		if ns > 0 {
			m := PerMille(ns, total)
			shares, left = append(shares, share{Wait(w), m, ns - int64(float64(m)/1000*float64(total))}), left-m
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.r, a.r) })
	for i := 0; i < len(shares) && left > 0; i, left = i+1, left-1 {
		shares[i].mille++
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(oneIf(a.w == Idle), oneIf(b.w == Idle)), cmp.Compare(b.mille, a.mille), cmp.Compare(a.w, b.w))
	})
	var parts []string
	for _, s := range shares {
		if s.mille > 0 {
			parts = append(parts, fmt.Sprintf("%s %d.%d %%", s.w, s.mille/10, s.mille%10))
		}
	}
	return strings.Join(parts, ", ")
}

// SharesIn leaves out the least of the shares, so that the others are whole in so many characters; 0 for any number.
func (s *Split) SharesIn(width int) string {
	shares := s.Shares()
	for whole := shares; width > 0 && utf8.RuneCountInString(shares) > width; {
		i := strings.LastIndex(whole, ", ")
		if i < 0 {
			return render.Shorten(whole, width)
		}
		whole = whole[:i]
		shares = whole + " …"
	}
	return shares
}

// Service is what a connection is about: the port that the socket serves, or the address and port that
// it uses.
func Service(s *agg.Socket) string {
	if s.Serves() {
		return fmt.Sprintf(":%d", s.Lport)
	}
	return render.Endpoint(s.Raddr, s.Rport)
}

// PerMille is a share, rounded down.
func PerMille(part, of int64) int64 {
	if of <= 0 {
		return 0
	}
	return int64(float64(part) * 1000 / float64(of))
}

// PutMarks writes 1 or 0 for a turn that did not finish, and for one with bytes both ways at once.
func (t *Turn) PutMarks(to *render.Table) { to.Int(oneIf(t.Unfinished)).Int(oneIf(t.Overlap)) }

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
