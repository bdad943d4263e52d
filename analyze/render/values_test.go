package render

import (
	"slices"
	"testing"
)

// Values come as text would show them, sentences without what could steer a terminal.
func TestValues(t *testing.T) {
	var said, words []string
	out := NewValues(Taker{Said: func(analysis, s string) { said = append(said, analysis+": "+s) },
		Row: func(t *Table) { words = append(words, t.Word("sock"), t.Word("comm"), t.Word("ms"), t.Word("nowhere")) }})
	a := out.Answer("socks")
	a.Begin([]string{"limited"})
	l := ListOf(a.Table, Spec{Name: "sockets"}, Address("sock", func(n *int64) uint64 { return uint64(*n) }),
		TextOr("comm", func(*int64) string { return "" }), Num("ms", func(n *int64) int64 { return *n }).As(Fixed).Digits(1))
	l.Line(0x21)
	a.Note("named \x1b[1m")
	a.End()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0x21", "", "3.3", ""}; !slices.Equal(words, want) {
		t.Errorf("words %q, not %q", words, want)
	}
	if want := []string{"socks: limited", `socks: named \x1b[1m`}; !slices.Equal(said, want) {
		t.Errorf("said %q, not %q", said, want)
	}
}
