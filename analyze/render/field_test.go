package render

import (
	"strings"
	"testing"
)

type person struct {
	name string
	age  int64
	home house
}

type house struct{ street string }

// A row's cells follow from the fields alone, those of a part included.
func TestListOf(t *testing.T) {
	out, _ := show(t, "json", Bpftrace, func(a *Answer) {
		l := ListOf(a.Table, Spec{Name: "people"}, append([]Field[person]{
			Text("name", func(p *person) string { return p.name }),
			NonZero("age_s", func(p *person) int64 { return p.age }).In("s"),
		}, Within(func(p *person) *house { return &p.home }, TextOr("street", func(h *house) string { return h.street }))...)...)
		l.Add(&person{"Ada", 36, house{"Square"}})
		l.Add(&person{name: "Bob"})
		if l.Rows() != 2 || len(l.columns) != 3 || l.columns[1].Unit != "s" {
			t.Errorf("%d rows of %v", l.Rows(), l.columns)
		}
	})
	_, _ = show(t, "json", Bpftrace, func(a *Answer) {
		l := ListOf(a.Table, Spec{Name: "people"}, NonZero("age_s", func(p *person) int64 { return p.age }))
		l.Hold(1)
		l.Line(person{age: 1})
		if n := testing.AllocsPerRun(100, func() { l.Line(person{age: 36}) }); n != 0 {
			t.Errorf("%v allocations for a line", n)
		}
		l.Show()
	})
	for _, want := range []string{`"name":"Ada","age_s":36,"street":"Square"`, `"name":"Bob","age_s":null,"street":null`} {
		if !strings.Contains(strings.ReplaceAll(out, " ", ""), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
