package analyze

import (
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// Layers outside of the network stack.
const (
	otherKernel = "other kernel"
	userSpace   = "user space"
)

// layerCounts is how many samples were in a layer.
type layerCounts struct{ self, within [12]int64 }

type layers struct {
	t     *render.Table
	keys  *engine.Keys
	known map[string]int // by function name
	by    agg.Keyed[engine.Key, layerCounts]
	total int64
}

func newLayers(in *engine.Input, keys *engine.Keys) *layers {
	return &layers{keys: keys, known: map[string]int{}, t: in.Table(render.Spec{Name: "layers", Columns: slices.Concat(shape.Headed(keys.Columns, -16), []render.Column{
		render.Col("layer", render.String).Text("LAYER", -16), render.Col("self", render.Int).Text("SELF", 8),
		render.Col("self_percent", render.Fixed).Digits(1).Text("%", 6), render.Col("within", render.Int).Text("WITHIN", 8),
		render.Col("within_percent", render.Fixed).Digits(1).Text("%", 6)})})}
}

// names lists the rows: the layers, then the rest.
func (f *layers) names() []string {
	var ns []string
	for i := range stackLayers {
		ns = append(ns, stackLayers[i].name)
	}
	return append(ns, otherKernel, userSpace)
}

// add counts a sample with its stacks, folded, outermost first.
func (f *layers) add(r *engine.Row, kernel, user string) {
	c := f.by.At(f.keys.Of(r))
	if c == nil {
		return
	}
	f.total++
	self, seen := -1, uint(0)
	for rest := kernel; rest != ""; {
		i := strings.LastIndexByte(rest, ';')
		if l := f.of(rest[i+1:]); l >= 0 {
			if self < 0 {
				self = l
			}
			seen |= 1 << l
		}
		rest = rest[:max(i, 0)]
	}
	other, outside := len(stackLayers), len(stackLayers)+1
	switch {
	case self < 0 && kernel != "":
		self = other
	case self < 0:
		self = outside
	}
	if kernel != "" && seen == 0 {
		seen |= 1 << other
	}
	if user != "" {
		seen |= 1 << outside
	}
	c.self[self]++
	for l := range c.within {
		if seen&(1<<l) != 0 {
			c.within[l]++
		}
	}
}

// of is the layer of a frame, -1 if it belongs to none.
func (f *layers) of(frame string) int {
	name, _, _ := strings.Cut(frame, "+0x")
	l, ok := f.known[name]
	if !ok {
		if len(f.known) >= 1<<16 {
			clear(f.known)
		}
		l = layerOf(name)
		f.known[strings.Clone(name)] = l
	}
	return l
}

// Finish shows the layers that have samples.
func (f *layers) Finish(*render.Answer) {
	for _, k := range f.by.Sorted(func(c *layerCounts) int64 { return -sum(c.self[:]) }, engine.Key.Compare) {
		c := f.by.At(k)
		all := sum(c.self[:])
		for i, name := range f.names() {
			if c.self[i]+c.within[i] > 0 {
				k.Put(f.t)
				f.t.Str(name).Int(c.self[i]).Int(c.self[i] * 1000 / all).Int(c.within[i]).Int(c.within[i] * 1000 / all).End()
			}
		}
	}
}

func sum(ns []int64) int64 {
	s := int64(0)
	for _, n := range ns {
		s += n
	}
	return s
}
