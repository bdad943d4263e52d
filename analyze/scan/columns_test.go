package scan

import (
	"slices"
	"strings"
	"testing"

	"netrec/schema"
)

func TestBind(t *testing.T) {
	var asked Columns
	c := struct {
		rows  int
		DurNs Int
		Fd2   Int
		Comm  Str
		Rows  int
	}{rows: 1}
	if err := asked.Bind(&c); err != nil {
		t.Fatal(err)
	}
	want := []Col{Col(schema.ColumnIndex("dur_ns")), Col(schema.ColumnIndex("fd2")), Col(schema.ColumnIndex("comm"))}
	if !slices.Equal(asked.All(), want) || c.DurNs.Col() != want[0] || c.Fd2.Col() != want[1] || c.Comm.Col() != want[2] || c.rows != 1 {
		t.Errorf("asked for %v, want %v; handles %v", asked.All(), want, c)
	}
	for _, wrong := range []any{&struct{ Comm Int }{}, &struct{ DurNs Str }{}, &struct{ NoSuch Int }{}} {
		if err := asked.Bind(wrong); err == nil || !strings.Contains(err.Error(), "no such column of that type") {
			t.Errorf("%T was bound: %v", wrong, err)
		}
	}
}

// Every column can be the name of a field.
func TestFieldNames(t *testing.T) {
	for _, c := range schema.Columns {
		field := ""
		for _, part := range strings.Split(c.Name, "_") {
			field += strings.ToUpper(part[:1]) + part[1:]
		}
		if got := columnName(field); got != c.Name {
			t.Errorf("field %s is column %s, want %s", field, got, c.Name)
		}
	}
}

// A handle that nothing was bound to reads no other column.
func TestUnboundHandle(t *testing.T) {
	r := At(&schema.Events[0], 1, make([]Vec, len(schema.Columns)), 0)
	for name, read := range map[string]func(){"Int": func() { r.Int(Int{}) }, "Str": func() { r.Str(Str{}) }, "Has": func() { r.Has(Int{}) }, "HasStr": func() { r.HasStr(Str{}) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s by a handle that is none", name)
				}
			}()
			read()
		}()
	}
}
