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

// Put writes the columns of the key.
func (p Process) Put(t *render.Table) { t.Str(p.Comm).Int(p.Pid) }

// Compare orders keys as text.
func (p Process) Compare(q Process) int {
	return cmp.Or(cmp.Compare(p.Comm, q.Comm), cmp.Compare(p.Pid, q.Pid))
}

// key is what a table is keyed by.
type key[K any] interface {
	comparable
	Put(*render.Table)
	Compare(K) int
}

// Text is a key of one string.
type Text string

// Put writes the columns of the key.
func (s Text) Put(t *render.Table) { t.Str(string(s)) }

// Compare orders keys as text.
func (s Text) Compare(o Text) int { return cmp.Compare(s, o) }

// AndText is a key of the user's choice with one more, a string.
type AndText struct {
	Key  engine.Key
	Text string
}

// Put writes the columns of the key.
func (k AndText) Put(t *render.Table) {
	k.Key.Put(t)
	t.Str(k.Text)
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

// Put writes nothing.
func (Whole) Put(*render.Table) {}

// Compare finds all alike.
func (Whole) Compare(Whole) int { return 0 }
