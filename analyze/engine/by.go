package engine

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/render"
)

// By is the option --by of analyses whose histogram or count has a key: def is the
// original's, more are the others that its events can tell. Names that Input.Keys is
// not given are those of the common keys; one whose column no event has is left out.
// Where there are stacks of one kind, stack is another name for them.
func By(def string, more ...string) Option {
	var all []string
	for _, name := range append(splitKeys(def), more...) {
		if k, ok := commonKeys[name]; !ok || k.exists() {
			all = appendNew(all, name)
		}
	}
	if stackKey(all) != "" {
		all = append(all, anyStack)
	}
	if def == "" {
		def = noKeys
	}
	return Option{Name: "by", Kind: Choices, Default: def, Choices: append(all, noKeys), Doc: "group by these keys, separated by commas"}
}

// noKeys is the value of --by that puts everything together.
const noKeys = "none"

// anyStack is the name for the stacks that an analysis has, of whichever kind.
const anyStack = "stack"

// stackKey is the key of stacks among the names, "" if there is none.
func stackKey(names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return n == "ustack" || n == "kstack" }); i >= 0 {
		return names[i]
	}
	return ""
}

// stackKey is the key that the name stands for in this analysis.
func (in *Input) stackKey() string {
	for _, o := range in.call.Analysis.Options {
		if o.Kind == Choices {
			return stackKey(o.Choices)
		}
	}
	return ""
}

// KeyDef is a key that rows are told apart by: its columns, taken from a row; nil for a key that tells nothing.
type KeyDef []render.Field[Row]

// appendKey adds a value of a key, text or a number.
func appendKey(b []byte, c render.Cell, text bool) []byte {
	switch {
	case c.Null:
		return append(b, 'n')
	case text:
		return append(binary.AppendUvarint(append(b, 's'), uint64(len(c.Str))), c.Str...)
	}
	return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(c.Num))
}

// Keys makes the keys of rows. Equal values give equal keys, and a row whose key was
// seen before allocates nothing.
type Keys struct {
	Fields []render.Field[Key] // the columns of tables with these keys
	// OnCPU makes comm and pid those of the task on the CPU, as the originals have
	// them, instead of the owner of the socket where an interrupt made the row.
	OnCPU bool

	of   KeyDef // the same columns, of a row
	buf  []byte
	ids  map[string]int32
	list []string // values by id
}

// Key is the key of a row: what a table with Keys.Fields is keyed by.
type Key struct {
	of *Keys
	id int32
}

// beyond is the id of keys that found no room.
const beyond = -1

// Keys are the keys that --by asks for. own are keys of this analysis by name, which
// hide common ones.
func (in *Input) Keys(own map[string]KeyDef) *Keys {
	k := &Keys{ids: map[string]int32{}}
	for _, name := range splitKeys(in.value("by")) {
		if name == anyStack {
			name = in.stackKey()
		}
		d, ok := own[name]
		if !ok {
			c, ok := commonKeys[name]
			if !ok {
				in.err = errors.Join(in.err, fmt.Errorf("analysis %s: no such key: %s", in.call.Analysis.Name, name))
				continue
			}
			d = in.common(&c, k)
		}
		in.single = in.single || slices.Contains(singleKeys, name)
		for i := range d {
			k.Fields = append(k.Fields, k.field(len(k.Fields), d[i].Column))
		}
		k.of = append(k.of, d...)
	}
	return k
}

// ByStack reports whether --by tells stacks apart: events that have them may be others.
func (in *Input) ByStack() bool {
	return slices.ContainsFunc(splitKeys(in.value("by")), func(name string) bool { return name == anyStack || stackKey([]string{name}) != "" })
}

func splitKeys(by string) []string {
	if by == "" || by == noKeys {
		return nil
	}
	return strings.Split(by, ",")
}

// Has reports whether a column is one of the keys'.
func (k *Keys) Has(column string) bool {
	return slices.ContainsFunc(k.Fields, func(f render.Field[Key]) bool { return f.Name == column })
}

// Of is the key of a row.
func (k *Keys) Of(r *Row) Key {
	k.buf = k.buf[:0]
	for i := range k.of {
		k.buf = appendKey(k.buf, k.of[i].Cell(r), k.of[i].Kind.Textual())
	}
	id, ok := k.ids[string(k.buf)]
	if !ok {
		if len(k.list) >= agg.MaxKeys-1 {
			return Key{k, beyond}
		}
		id = int32(len(k.list))
		s := string(k.buf)
		k.ids[s], k.list = id, append(k.list, s)
	}
	return Key{k, id}
}

// Forget makes room for others where no key made so far is held any more, as between
// intervals.
func (k *Keys) Forget() {
	clear(k.ids)
	k.list = k.list[:0]
}

// keyValue is a decoded value of a key.
type keyValue struct {
	num  int64
	str  string
	kind byte
}

// next cuts the first value off.
func next(s string) (keyValue, string) {
	switch s[0] {
	case 'i':
		return keyValue{num: int64(binary.BigEndian.Uint64([]byte(s[1:9]))), kind: 'i'}, s[9:]
	case 's':
		n, size := binary.Uvarint([]byte(s[1:min(len(s), 1+binary.MaxVarintLen64)]))
		at := 1 + size
		return keyValue{str: s[at : at+int(n)], kind: 's'}, s[at+int(n):]
	}
	return keyValue{kind: 'n'}, s[1:]
}

// field is a column of tables with these keys, by its place among them.
func (k *Keys) field(at int, c render.Column) render.Field[Key] {
	more := render.Cell{Null: true} // of keys that found no room
	if c.Kind.Textual() {
		more = render.Cell{Str: "(more keys)"}
	}
	return render.Of(c.Name, c.Kind, func(key *Key) render.Cell {
		if key.id == beyond {
			return more
		}
		v, rest := next(k.list[key.id])
		for range at {
			v, rest = next(rest)
		}
		return render.Cell{Num: v.num, Str: v.str, Null: v.kind == 'n'}
	})
}

// Compare orders keys by their values, unknown ones first.
func (k Key) Compare(o Key) int {
	if k.id == beyond || o.id == beyond {
		return cmp.Compare(o.id, k.id)
	}
	a, b := k.of.list[k.id], o.of.list[o.id]
	for a != "" && b != "" {
		var v, w keyValue
		v, a = next(a)
		w, b = next(b)
		if c := cmp.Or(cmp.Compare(b2i(v.kind != 'n'), b2i(w.kind != 'n')), cmp.Compare(v.num, w.num), cmp.Compare(v.str, w.str)); c != 0 {
			return c
		}
	}
	return 0
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
