package symbol

import (
	"bufio"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Limits of /proc/PID/maps: a process may have made any number of mappings.
const (
	maxMapsBytes = 8 << 20
	maxMappings  = 8192
)

// mapping is an executable range of a process's memory.
type mapping struct {
	start, end, off uint64
	inode           uint64
	path            string

	// The file behind it, once looked for.
	sought bool
	known  bool
	id     fileID
}

// readMaps reads the executable mappings, in the order of addresses.
func readMaps(r io.Reader) ([]mapping, error) {
	var out []mapping
	s := bufio.NewScanner(io.LimitReader(r, maxMapsBytes))
	for len(out) < maxMappings && s.Scan() {
		if m, ok := parseMapping(s.Text()); ok {
			out = append(out, m)
		}
	}
	return out, s.Err()
}

// parseMapping reads "start-end perms offset dev inode path"; false for a mapping
// that holds no code.
func parseMapping(line string) (m mapping, ok bool) {
	var field [5]string
	for i := range field {
		field[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	if len(field[1]) < 3 || field[1][2] != 'x' {
		return m, false
	}
	lo, hi, _ := strings.Cut(field[0], "-")
	var errs [4]error
	m.start, errs[0] = strconv.ParseUint(lo, 16, 64)
	m.end, errs[1] = strconv.ParseUint(hi, 16, 64)
	m.off, errs[2] = strconv.ParseUint(field[2], 16, 64)
	m.inode, errs[3] = strconv.ParseUint(field[4], 10, 64)
	// Clones, since a part of the line would keep all of it.
	m.path = strings.Clone(strings.TrimLeft(line, " "))
	return m, errs == [4]error{} && m.start < m.end
}

// find returns the mapping that covers addr.
func find(maps []mapping, addr uint64) *mapping {
	i, ok := slices.BinarySearchFunc(maps, addr, func(m mapping, a uint64) int {
		switch {
		case m.end <= a:
			return -1
		case m.start > a:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &maps[i]
}

// sameMaps reports whether two readings show the same code at the same places.
func sameMaps(a, b []mapping) bool {
	return slices.EqualFunc(a, b, func(a, b mapping) bool {
		return a.start == b.start && a.end == b.end && a.off == b.off && a.inode == b.inode && a.path == b.path
	})
}

const deleted = " (deleted)"

// isFile reports whether the mapping is of a file that may have symbols.
func (m *mapping) isFile() bool {
	return m.inode != 0 && strings.HasPrefix(m.path, "/") && !strings.HasPrefix(m.path, "/memfd:") &&
		!strings.HasPrefix(m.path, "/dev/") && !strings.HasPrefix(m.path, "/SYSV")
}

// base is the last part of the path, as it is printed.
func (m *mapping) base() string { return clean(path.Base(strings.TrimSuffix(m.path, deleted))) }
