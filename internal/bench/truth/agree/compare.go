package agree

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Counts is how often each key occurs.
type Counts map[string]int64

// Total is the sum of all.
func (c Counts) Total() (n int64) {
	for _, v := range c {
		n += v
	}
	return n
}

// Differences lists the keys whose counts differ, with both; missed reports whether all
// of it may be what the other tool did not see.
func Differences(theirs, ours Counts) (ds []string, missed bool) {
	all := maps.Clone(theirs)
	for k := range ours {
		all[k] += 0
	}
	missed = true
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if theirs[k] != ours[k] {
			ds = append(ds, fmt.Sprintf("%s: %d there, %d here", k, theirs[k], ours[k]))
			missed = missed && theirs[k] < ours[k]
		}
	}
	return ds, missed
}

// Rows are lines of a table, by column.
type Rows []map[string]string

// Tally counts rows by some of their columns. A field is a column or "a:b" or "a/b", which
// join two; "a/1024" is a number in KiB with two decimals, and "a|1" the lower bound of a
// bucket where 0 and 1 are one, "a.10" the first ten bytes. Where says which values columns must have:
// patterns, or "!x" for any but x.
func (rs Rows) Tally(fields []string, where map[string]string, count string) (Counts, error) {
	counts := Counts{}
	for _, r := range rs {
		if !fits(r, where) {
			continue
		}
		var key []string
		for _, f := range fields {
			v, err := value(r, f)
			if err != nil {
				return nil, err
			}
			key = append(key, v)
		}
		n, err := number(r, count)
		if err != nil {
			return nil, err
		}
		if n != 0 {
			counts[strings.Join(key, " ")] += n
		}
	}
	return counts, nil
}

func fits(r map[string]string, where map[string]string) bool {
	for column, want := range where {
		if not, ok := strings.CutPrefix(want, "!"); ok {
			if r[column] == not {
				return false
			}
		} else if ok, err := path.Match(want, r[column]); err != nil || !ok {
			return false
		}
	}
	return true
}

// number is how often a row counts.
func number(r map[string]string, column string) (int64, error) {
	if column == "" {
		column = "count"
		if _, ok := r[column]; !ok {
			return 1, nil
		}
	}
	n, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("column %s: %w", column, err)
	}
	return n, nil
}

func value(r map[string]string, field string) (string, error) {
	if v, ok := r[field]; ok {
		if inner, ok := strings.CutPrefix(v, "["); ok && strings.HasSuffix(inner, "]") {
			return strings.TrimSuffix(inner, "]"), nil // an address of IPv6
		}
		return strings.TrimPrefix(v, "0x"), nil
	}
	if a, ok := strings.CutSuffix(field, "/1024"); ok {
		n, err := strconv.ParseInt(r[a], 10, 64)
		return fmt.Sprintf("%.2f", float64(n)/1024), err
	}
	if a, ok := strings.CutSuffix(field, ".10"); ok {
		return r[a][:min(len(r[a]), 10)], nil
	}
	if a, ok := strings.CutSuffix(field, "|1"); ok {
		if r[a] == "1" {
			return "0", nil
		}
		return value(r, a)
	}
	for _, sep := range []string{":", "/"} {
		a, b, ok := strings.Cut(field, sep)
		_, okA := r[a]
		_, okB := r[b]
		if ok && okA && okB {
			return r[a] + sep + r[b], nil
		}
	}
	return "", fmt.Errorf("no column %s among %s", field, strings.Join(slices.Sorted(maps.Keys(r)), " "))
}
