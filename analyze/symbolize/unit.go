package symbolize

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
)

// unit is what was compiled at once. Its functions are read when the first address in it
// is asked for.
type unit struct {
	off, end dwarf.Offset // of its entries
	cost     int64        // of reading the first one
	read     bool
	nodes    []node
	spans    []span // of nodes
}

// node is a function with code of its own, or one that was inlined into its parent.
type node struct {
	entry  dwarf.Offset
	parent int32 // -1 for none
	depth  int32
	low    uint64
}

// at is the function at an address and what is inlined there.
func (u *unit) at(d *debugInfo, addr uint64) (fn function, err error) {
	if !u.read {
		u.read = true
		if err := u.grow(d); err != nil {
			u.nodes, u.spans = nil, nil
			return fn, err
		}
	}
	if err := d.spend(int64(len(u.spans) / 64)); err != nil {
		return fn, err
	}
	deepest := int32(-1)
	for i := range u.spans {
		s := &u.spans[i]
		if addr >= s.low && addr < s.high && (deepest < 0 || u.nodes[s.of].depth > u.nodes[deepest].depth) {
			deepest = s.of
		}
	}
	return u.chain(d, deepest)
}

// maxInlined is how many inlined functions are shown at one address; of more, the inner ones.
const maxInlined = 64

// chain goes from what is innermost at an address out to the function that has the code.
func (u *unit) chain(d *debugInfo, at int32) (fn function, err error) {
	for ; at >= 0; at = u.nodes[at].parent {
		n := &u.nodes[at]
		if n.parent >= 0 && len(fn.inlined) == maxInlined {
			continue
		}
		name, err := d.name(n.entry, u)
		switch {
		case err != nil:
			return function{}, err
		case n.parent < 0:
			fn.name, fn.low = name, n.low
		default:
			fn.inlined = append(fn.inlined, cmp.Or(name, "[unknown]"))
		}
	}
	slices.Reverse(fn.inlined)
	return fn, nil
}

// grow reads all functions of the unit. Entries are taken one after the other, with the way
// up to the first kept here: a hostile file may nest them by the million.
func (u *unit) grow(d *debugInfo) error {
	r := d.data.Reader()
	r.Seek(u.off)
	var up []int32
	in := int32(-1)
	for {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("debug information: %w", err)
		}
		if e == nil || e.Tag != 0 && e.Offset >= u.end {
			return nil
		}
		if err := d.spend(cost(e)); err != nil {
			return err
		}
		here := in
		switch e.Tag {
		case 0:
			if len(up) == 0 {
				return nil
			}
			in, up = up[len(up)-1], up[:len(up)-1]
		case dwarf.TagSubprogram:
			here, err = u.add(d, e, -1)
		case dwarf.TagInlinedSubroutine:
			here, err = u.add(d, e, in)
		}
		if err != nil {
			return err
		}
		if e.Children {
			up, in = append(up, in), here
		}
		if len(up) == 0 {
			return nil
		}
	}
}

// add notes a function, if it has code; what it is in, else.
func (u *unit) add(d *debugInfo, e *dwarf.Entry, parent int32) (int32, error) {
	ranges, err := d.ranges(e, u)
	if err != nil || len(ranges) == 0 {
		return parent, err
	}
	n := node{entry: e.Offset, parent: parent, low: ranges[0][0]}
	if parent >= 0 {
		n.depth = u.nodes[parent].depth + 1
	}
	if d.nodes += 1 + len(ranges); d.nodes > maxNodes {
		return 0, errors.New("its debug information has too many functions")
	}
	here := int32(len(u.nodes))
	u.nodes = append(u.nodes, n)
	for _, p := range ranges {
		u.spans = append(u.spans, span{p[0], p[1], here})
	}
	return here, nil
}

// maxOrigins is how many references are followed from a function to where it has its name.
const maxOrigins = 8

// name is the name that the linker knows a function by, else the one in its source.
func (d *debugInfo) name(off dwarf.Offset, u *unit) (string, error) {
	r := d.data.Reader()
	plain := ""
	for range maxOrigins {
		r.Seek(off)
		e, err := r.Next()
		if err != nil || e == nil {
			return plain, nil // in a file that this one was shortened by, for one
		}
		if err := d.spend(cost(e) + u.cost); err != nil {
			return "", err
		}
		if s, ok := e.Val(dwarf.AttrLinkageName).(string); ok && s != "" {
			return s, nil
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && plain == "" {
			plain = s
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return plain, nil
			}
		}
		off = next
	}
	return plain, nil
}
