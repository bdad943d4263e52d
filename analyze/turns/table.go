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

// Fields are where the time of a row went: shares for people, in as many characters as there is room for, 0 for
// any number, and nanoseconds for programs.
func Fields[T any](of func(*T) *Split, room func(*T) int) []render.Field[T] {
	shares := render.Text("where", func(row *T) string { return of(row).SharesIn(room(row)) }).Text("WHERE THE TIME WENT", 0).ForPeople()
	return append([]render.Field[T]{shares}, NsFields(of)...)
}

// NsFields are those for programs alone.
func NsFields[T any](of func(*T) *Split) (fields []render.Field[T]) {
	for w := range Waits {
		fields = append(fields, render.Num(strings.ReplaceAll(w.String(), " ", "_")+"_ns", func(row *T) int64 { return of(row)[w] }).In("ns"))
	}
	return fields
}

// Shares lists what took longest first, and idle last, which says least. Where most of the time is idle it comes first,
// and the shares are of the rest: what somebody waited for would be too small to be read otherwise.
func (s *Split) Shares() string {
	idle, total := s[Idle], s.Total()
	if 2*idle <= total || idle == total {
		return s.shares()
	}
	rest, m := *s, PerMille(idle, total)
	rest[Idle] = 0
	return fmt.Sprintf("idle %d.%d %%, rest: %s", m/10, m%10, rest.shares())
}

// shares are rounded so that they make a hundred.
func (s *Split) shares() string {
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

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
