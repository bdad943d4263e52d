package calls

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// MsgSizes makes the analysis of how much a protocol's send or receive functions moved.
type MsgSizes struct {
	Event, Dir string
	Name       string // of the map
	V4         string // the only function that the original hooks; "" if there is one for both families
}

// Of completes the declaration of an analysis with options and fold.
func (m MsgSizes) Of(a engine.Analysis) engine.Analysis {
	rule := "the size asked for, failed calls too"
	if m.Dir == "recv" {
		rule = "count errors as sizes, and MSG_PEEK"
	}
	if m.V4 != "" {
		rule += ", IPv4 only"
	}
	a.Options = []engine.Option{engine.By("", append([]string{"func", "tid"}, engine.SocketKeys...)...), engine.Compat(rule)}
	if m.Dir == "recv" {
		a.Options = append(a.Options, engine.Option{Name: "data", Kind: engine.Flag, Doc: "only calls that returned data: none of zero bytes"})
	}
	a.New = m.fold
	return a
}

// msgSizer is a msgSizes at work.
type msgSizer struct {
	MsgSizes
	keys   *engine.Keys
	sizes  *shape.Map[engine.Key, agg.Log2]
	compat bool
	data   bool // zero is no size

	calls *msgCalls
	bytes *engine.Bytes

	right, original, differ, failed int64

	Ret, AskedBytes scan.Int
	Dir             scan.Str
}

func (m MsgSizes) fold(in *engine.Input) engine.Fold {
	f := &msgSizer{MsgSizes: m, compat: in.Flag("compat"), bytes: in.Bytes(), calls: newMsgCalls(in, m.Event)}
	in.Bind(f)
	f.keys = in.Keys(map[string]engine.KeyDef{"func": f.calls.key()})
	f.data = m.Dir == "recv" && in.Flag("data")
	f.sizes = shape.Hist(in, m.Name, "bytes", f.keys.Fields...)
	f.calls.on(in, f.row)
	return shape.Also(f.sizes, f)
}

// values are what the right rule and the original's take a call for; negative for nothing.
func (f *msgSizer) values(r *engine.Row) (ours, theirs int64) {
	n := r.Int(f.Ret)
	ours, theirs = n, n
	switch {
	case f.MsgSizes.Dir == "send":
		if r.Has(f.AskedBytes) {
			theirs = r.Int(f.AskedBytes)
		}
	case f.bytes.Peeked(r):
		ours = -1
	}
	if f.MsgSizes.Dir == "recv" && n < 0 {
		theirs = int64(uint32(n)) // an int in a register of 64 bits, read without a sign
	}
	if f.V4 != "" && f.calls.function(r) != f.V4 {
		theirs = -1
	}
	if f.data && n <= 0 { // the one-liner that looks so has the sign, too
		return -1, -1
	}
	return ours, theirs
}

func (f *msgSizer) row(r *engine.Row) {
	if r.Str(f.Dir) != f.MsgSizes.Dir {
		return
	}
	if r.Int(f.Ret) < 0 {
		f.failed++
	}
	v, theirs := f.values(r)
	if v >= 0 {
		f.right++
	}
	if theirs >= 0 {
		f.original++
	}
	if v != theirs && (v >= 0 || theirs >= 0) {
		f.differ++
	}
	if f.compat {
		v = theirs
	}
	if v >= 0 {
		f.sizes.Add(f.keys.Of(r), v)
	}
}

// Finish tells the rules apart.
func (f *msgSizer) Finish(a *render.Answer) {
	if f.failed > 0 && !f.compat {
		a.Note(engine.Plural(f.failed, "call that returned an error is", "calls that returned an error are") + " not counted")
	}
	calls := engine.Plural(f.differ, "call", "calls")
	shape.NoteRules(a, f.differ, f.compat,
		fmt.Sprintf("--compat: %s; without it %s; the two differ in %s", engine.Plural(f.original, "value", "values"), engine.Thousands(f.right), calls),
		fmt.Sprintf("%s; the original (--compat) has %s; the two differ in %s", engine.Plural(f.right, "value", "values"), engine.Thousands(f.original), calls))
}
