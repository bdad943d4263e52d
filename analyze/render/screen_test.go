package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// screened is text on a terminal of so many lines: a list that takes rows while others are read, and
// what is known only at the end.
func screened(t *testing.T, lines, rows int, prepare func(*Output, *Answer)) string {
	t.Helper()
	var out bytes.Buffer
	o, err := NewOutput("text", Bpftrace, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	o.On(Terminal{Width: 80, Height: lines, Cuts: true})
	if prepare != nil {
		prepare(o, nil)
	}
	a := o.Answer("a")
	a.Begin([]string{"half"})
	if prepare != nil {
		prepare(nil, a)
	}
	type call struct{ n, ret int64 }
	list := ListOf(a.Table, Spec{Name: "list"}, Num("n", func(c *call) int64 { return c.n }).Text("N", 4),
		Num("ret", func(c *call) int64 { return c.ret }).Text("RET", 4).Fails(FailedCall))
	for i := range rows {
		ret := int64(0)
		if i == rows-2 {
			ret = -111
		}
		list.Line(call{int64(i), ret})
	}
	a.Finishing()
	sums := ListOf(a.Table, Spec{Name: "sums", Look: MapCount, Keys: 1}, entryKey, entryCount)
	for i := range rows {
		sums.Line(entry{key: fmt.Sprint("key", i), count: int64(i)})
	}
	a.Note("noted")
	a.End()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestScreen: what is complete comes before lists, failures before successes, both are cut, and say so.
func TestScreen(t *testing.T) {
	got := screened(t, 30, 101, nil)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) > 30 || len(lines) < 24 {
		t.Errorf("%d lines of 30:\n%s", len(lines), got)
	}
	sum, list, failed, first := strings.Index(got, "@sums[key100]: 100\n"), strings.Index(got, "   N  RET\n"), strings.Index(got, "  99 -111\n"), strings.Index(got, "   0    0\n")
	if sum < 0 || list < sum || failed < list || first < failed || strings.Contains(got, "@sums[key1]") || strings.Contains(got, "  98    0") {
		t.Errorf("order of sums %d, list %d, failure %d, success %d:\n%s", sum, list, failed, first, got)
	}
	shownSums, shownRows := strings.Count(got, "@sums["), strings.Count(got[list:], "\n")-3 // heading, line about the rest, note
	for _, want := range []string{fmt.Sprintf("… %d smaller ones: --all shows them\n", 101-shownSums), fmt.Sprintf("… %d more: --all shows them\n", 101-shownRows), "# a: noted\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q:\n%s", want, got)
		}
	}
	whole := screened(t, 30, 101, func(o *Output, _ *Answer) {
		if o != nil {
			o.All()
		}
	})
	chosen := screened(t, 30, 101, func(_ *Output, a *Answer) {
		if a != nil {
			a.Whole()
		}
	})
	if whole != chosen || strings.Contains(whole, "…") || strings.Count(whole, "\n") < 202 {
		t.Errorf("all or a chosen number of rows is cut:\n%s", whole)
	}
	if short := screened(t, 30, 5, nil); strings.Contains(short, "…") || strings.Count(short, "@sums[") != 5 {
		t.Errorf("what fits is cut:\n%s", short)
	}
}

// TestTallPiece: a histogram taller than the screen loses frames of its stack, then its end.
func TestTallPiece(t *testing.T) {
	text := "@us[\n" + strings.Repeat("    frame\n", 30) + ", curl]:\n" + strings.Repeat("[1, 2)  1 |@@|\n", 8) + "\n"
	tall := piece{[]byte(text), strings.Count(text, "\n")}
	for most, want := range map[int]string{41: text, 20: "@us[\n" + strings.Repeat("    frame\n", 8) + "    … 22 lines: --all shows them\n, curl]:\n" + strings.Repeat("[1, 2)  1 |@@|\n", 8) + "\n",
		6: "@us[\n    … 30 lines: --all shows them\n, curl]:\n" + strings.Repeat("[1, 2)  1 |@@|\n", 2) + "    … 7 lines: --all shows them\n"} {
		if got := tall.within(most); string(got.text) != want || got.lines > most || got.lines != strings.Count(want, "\n") {
			t.Errorf("within %d lines: %d lines\n%s", most, got.lines, got.text)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two", "one two"}, {"one two three four", "one two|three four"}, {"one two three four five six", "one two|three fou…"},
		{"unbreakablewords", "unbreakab…"}, {"äöüß äöüß äöüß", "äöüß äöüß|äöüß"},
	} {
		if got := strings.Join(Wrap(c.text, 10, 2), "|"); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
}
