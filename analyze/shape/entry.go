package shape

import "netrec/analyze/render"

// Entry is a row of a table that has keys: a key, and what was found out of it.
type Entry[K, V any] struct {
	Key   K
	Value *V
}

// EntryFields are the fields of the key, then those of the value.
func EntryFields[K, V any](keys []render.Field[K], values ...render.Field[V]) []render.Field[Entry[K, V]] {
	return append(render.Within(func(e *Entry[K, V]) *K { return &e.Key }, keys...),
		render.Within(func(e *Entry[K, V]) *V { return e.Value }, values...)...)
}
