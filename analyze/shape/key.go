package shape

import (
	"cmp"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Process is the key of tables by process.
type Process struct {
	Comm string
	Pid  int64
}

// Compare orders keys as text.
func (p Process) Compare(q Process) int {
	return cmp.Or(cmp.Compare(p.Comm, q.Comm), cmp.Compare(p.Pid, q.Pid))
}

// key is what a table is keyed by.
type key[K any] interface {
	comparable
	Compare(K) int
}

// Text is a key of one string.
type Text string

// Compare orders keys as text.
func (s Text) Compare(o Text) int { return cmp.Compare(s, o) }

// AndText is a key of the user's choice with one more, a string.
type AndText struct {
	Key  engine.Key
	Text string
}

// AndTextFields are keys of the user's choice with one more, under its name.
func AndTextFields(keys *engine.Keys, name string) []render.Field[AndText] {
	return append(render.Within(func(k *AndText) *engine.Key { return &k.Key }, keys.Fields...),
		render.Text(name, func(k *AndText) string { return k.Text }))
}

// Compare orders keys as text.
func (k AndText) Compare(o AndText) int {
	return cmp.Or(k.Key.Compare(o.Key), cmp.Compare(k.Text, o.Text))
}

// Headed gives keys a heading and a width, for tables that are lines and not maps.
func Headed(keys []render.Field[engine.Key], width int) []render.Field[engine.Key] {
	fs := make([]render.Field[engine.Key], len(keys))
	for i, f := range keys {
		fs[i] = f.Text(strings.ToUpper(f.Name), width)
	}
	return fs
}

// Whole is the key of a map that has one entry.
type Whole struct{}

// Compare finds all alike.
func (Whole) Compare(Whole) int { return 0 }
