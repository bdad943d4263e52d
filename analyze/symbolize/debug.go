package symbolize

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"sort"

	"netrec/schema/objfile"
)

// Limits of debug information: bytes of all files together, symbols included, and for each file the bytes of
// its parts and the work done on it, in entries read.
const (
	maxDebug = 1 << 30
	maxWork  = 1 << 25
	maxNodes = 1 << 22
)

// parts are the sections that are read, and how large each may be. Those with lists are
// held smaller: a byte of them becomes many in memory.
var parts = []struct {
	name string
	most uint64
}{{"abbrev", 16 << 20}, {"info", 512 << 20}, {"str", 256 << 20}, {"ranges", 32 << 20}, {"rnglists", 32 << 20},
	{"addr", 64 << 20}, {"str_offsets", 64 << 20}, {"line_str", 16 << 20}}

// debugInfo is the debug information of one file. A nil *debugInfo has none.
type debugInfo struct {
	data  *dwarf.Data
	units []unit
	spans []span // of units, in the order of addresses
	work  int64
	nodes int
	why   string // reading stopped
}

// span is a range of addresses and what it belongs to.
type span struct {
	low, high uint64
	of        int32
}

// function is what is at an address.
type function struct {
	name    string // of the code that was compiled as one
	low     uint64
	inlined []string // in it, outermost first
}

// readDebug reads the debug information of a file; room is how many bytes all files may
// still take.
func readDebug(f *objfile.File, room *int64) (*debugInfo, error) {
	got := map[string][]byte{}
	for _, p := range parts {
		b, err := section(f, p.name, min(p.most, uint64(*room)))
		if err != nil {
			return nil, err
		}
		*room -= int64(len(b))
		got[p.name] = b
	}
	if len(got["info"]) == 0 || len(got["abbrev"]) == 0 {
		return nil, errors.New("the file has no debug information")
	}
	units, err := check(got["info"], got["abbrev"], got["str"], got["line_str"])
	if err != nil {
		return nil, err
	}
	data, err := dwarf.New(got["abbrev"], nil, nil, got["info"], nil, nil, got["ranges"], got["str"])
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	for _, name := range []string{"rnglists", "addr", "str_offsets", "line_str"} { // since DWARF 5
		if got[name] == nil {
			continue
		}
		if err := data.AddSection(".debug_"+name, got[name]); err != nil {
			return nil, err
		}
	}
	d := &debugInfo{data: data, units: units}
	return d, d.index()
}

// index notes which addresses each unit covers.
func (d *debugInfo) index() error {
	r := d.data.Reader()
	for i := range d.units {
		u := &d.units[i]
		r.Seek(u.off)
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("debug information: %w", err)
		}
		if e == nil || e.Tag != dwarf.TagCompileUnit {
			continue
		}
		u.cost = cost(e)
		ranges, err := d.ranges(e, u)
		if err != nil {
			return err
		}
		for _, p := range ranges {
			if p[0] < p[1] {
				d.spans = append(d.spans, span{p[0], p[1], int32(i)})
			}
		}
	}
	slices.SortFunc(d.spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	return nil
}

// maxBack is how many units are tried that begin before an address.
const maxBack = 16

// at is what is at an address, as far as it is known.
func (d *debugInfo) at(addr uint64) (fn function) {
	if d == nil || d.why != "" {
		return fn
	}
	defer func() {
		if p := recover(); p != nil {
			fn, d.why = function{}, fmt.Sprintf("damaged: %v", p)
		}
	}()
	next := sort.Search(len(d.spans), func(i int) bool { return d.spans[i].low > addr })
	for i := next - 1; i >= 0 && i >= next-maxBack; i-- {
		if addr >= d.spans[i].high {
			continue
		}
		fn, err := d.units[d.spans[i].of].at(d, addr)
		if err != nil {
			d.why = err.Error()
		}
		return fn
	}
	return fn
}

// spend accounts for work; the error is that there was too much.
func (d *debugInfo) spend(n int64) error {
	if d.work += n; d.work > maxWork {
		return errors.New("its debug information takes too long to read")
	}
	return nil
}

// cost is the work that reading an entry was: strings are copied each time.
func cost(e *dwarf.Entry) int64 {
	n := int64(1)
	for i := range e.Field {
		if s, ok := e.Field[i].Val.(string); ok {
			n += int64(len(s)) / 64
		}
	}
	return n
}

// ranges is the addresses of an entry. To find them its unit's first entry is read again.
func (d *debugInfo) ranges(e *dwarf.Entry, u *unit) ([][2]uint64, error) {
	if err := d.spend(cost(e) + u.cost); err != nil {
		return nil, err
	}
	ranges, err := d.data.Ranges(e)
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	return ranges, d.spend(int64(len(ranges)))
}
