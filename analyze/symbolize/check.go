package symbolize

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Limits of what debug/dwarf takes as it comes. It makes a table of every abbreviation that
// a unit refers to, and copies every string of an entry that it reads: a small file could
// stand for any amount of memory by tables that overlap and strings that are used again.
const (
	maxUnits  = 1 << 18
	maxFields = 128       // of an entry
	maxString = 256 << 10 // in .debug_str
	maxPath   = 16 << 10  // in .debug_line_str
)

// check holds debug information against these limits and finds its units.
func check(info, abbrev, str, lineStr []byte) ([]unit, error) {
	units, tables, err := unitsOf(info)
	if err != nil {
		return nil, err
	}
	if err := checkTables(abbrev, tables); err != nil {
		return nil, err
	}
	if err := checkStrings(str, maxString); err != nil {
		return nil, err
	}
	return units, checkStrings(lineStr, maxPath)
}

var errUnits = errors.New("debug information: units are damaged")

// Kinds of units that have more in their header, since DWARF 5.
const (
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

// unitsOf reads the headers of all units: where their entries are, and which tables of
// abbreviations they use.
func unitsOf(info []byte) (units []unit, tables []uint64, err error) {
	le := binary.LittleEndian
	for at := uint64(0); at < uint64(len(info)); {
		b := info[at:]
		head, offset := uint64(4), uint64(4) // bytes of the length, and of an offset
		if len(b) >= 4 && le.Uint32(b) == 0xffffffff {
			head, offset = 12, 8
		}
		if uint64(len(b)) < head {
			return nil, nil, errUnits
		}
		size := uint64(le.Uint32(b))
		if offset == 8 {
			size = le.Uint64(b[4:])
		}
		if size > uint64(len(b))-head {
			return nil, nil, errUnits
		}
		if size > 0 {
			n, table, err := unitHeader(b[head:head+size], offset)
			if err != nil {
				return nil, nil, err
			}
			if len(units) == maxUnits {
				return nil, nil, fmt.Errorf("debug information of more than %d units", maxUnits)
			}
			units = append(units, unit{off: dwarf.Offset(at + head + n), end: dwarf.Offset(at + head + size)})
			tables = append(tables, table)
		}
		at += head + size
	}
	return units, tables, nil
}

// unitHeader is how long the header of a unit is behind its length, and its table.
func unitHeader(b []byte, offset uint64) (n, table uint64, err error) {
	const most = 2 + 2 + 8 + 8 + 8
	h := make([]byte, most)
	copy(h, b)
	at := uint64(3) // version, then size of an address behind the table
	table = word(h[2:], offset)
	if binary.LittleEndian.Uint16(h) >= 5 {
		at, table = 4, word(h[4:], offset) // kind and size of an address before it
		switch h[2] {
		case unitSkeleton, unitSplitCompile:
			at += 8
		case unitType, unitSplitType:
			at += 8 + offset
		}
	}
	if at += offset; at > uint64(len(b)) {
		return 0, 0, errUnits
	}
	return at, table, nil
}

func word(b []byte, size uint64) uint64 {
	if size == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// checkTables walks each table of abbreviations once: none may reach into the next, so that
// all of them together are not larger than the section.
func checkTables(abbrev []byte, tables []uint64) error {
	slices.Sort(tables)
	end := uint64(0)
	for _, off := range slices.Compact(tables) {
		if off < end || off > uint64(len(abbrev)) {
			return errors.New("debug information: tables of abbreviations overlap")
		}
		n, err := tableSize(abbrev[off:])
		if err != nil {
			return err
		}
		end = off + n
	}
	return nil
}

var errTable = errors.New("debug information: a table of abbreviations is damaged")

// formImplicitConst is the form of a value that stands in the table itself.
const formImplicitConst = 0x21

// tableSize is how many bytes the table at the start of b has.
func tableSize(b []byte) (uint64, error) {
	c := leb(b)
	for len(c) > 0 {
		if uint32(c.next()) == 0 {
			return uint64(len(b) - len(c)), nil
		}
		c.next() // tag
		if len(c) == 0 {
			return 0, errTable
		}
		c = c[1:] // whether it has children
		for n := 0; ; n++ {
			attr, form := c.next(), c.next()
			if attr == 0 && form == 0 {
				break
			}
			if form == formImplicitConst {
				c.next()
			}
			if n == maxFields || len(c) == 0 {
				return 0, errTable
			}
		}
	}
	return uint64(len(b)), nil
}

// leb is numbers of any length, as debug/dwarf reads them: one that is cut is 0, and not
// taken.
type leb []byte

func (c *leb) next() (v uint64) {
	for i, b := range *c {
		v |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			*c = (*c)[i+1:]
			return v
		}
	}
	return 0
}

// checkStrings holds the longest string of a section against a limit.
func checkStrings(b []byte, most int) error {
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			i = len(b) - 1
		}
		if i > most {
			return fmt.Errorf("debug information: a string of %d bytes, limit %d", i, most)
		}
		b = b[i+1:]
	}
	return nil
}
