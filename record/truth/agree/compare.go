package agree

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
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

// Differences lists the keys whose counts differ, with both.
func Differences(theirs, ours Counts) []string {
	all := maps.Clone(theirs)
	for k := range ours {
		all[k] += 0
	}
	var ds []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if theirs[k] != ours[k] {
			ds = append(ds, fmt.Sprintf("%s: %d there, %d here", k, theirs[k], ours[k]))
		}
	}
	return ds
}

// fromTraffic reports whether a row belongs to the traffic of the test: a port of its own,
// or the name of a host that it looked up.
func fromTraffic(row map[string]string) bool {
	for name, v := range row {
		name = strings.ToLower(name)
		if p, err := strconv.Atoi(v); err == nil && strings.HasSuffix(name, "port") && p >= firstPort && p <= lastPort {
			return true
		}
		if name == "host" && strings.HasSuffix(v, ".invalid") {
			return true
		}
	}
	return false
}

func key(row map[string]string, columns []string) string {
	var vs []string
	for _, c := range columns {
		vs = append(vs, row[c])
	}
	return strings.Join(vs, " ")
}

// Lines counts the lines that a tool printed, by some of its columns.
func Lines(out []byte, columns []string) (Counts, error) {
	counts, s := Counts{}, bufio.NewScanner(bytes.NewReader(out))
	var head []string
	for s.Scan() {
		words := strings.Fields(s.Text())
		if head == nil {
			if slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(words, c) }) {
				continue // what it says before its heading
			}
			head = words
			continue
		}
		row := map[string]string{}
		for i := range min(len(words), len(head)) {
			row[head[i]] = words[i]
		}
		if fromTraffic(row) {
			counts[key(row, columns)]++
		}
	}
	if head == nil {
		return nil, fmt.Errorf("no heading with the columns %s", strings.Join(columns, " "))
	}
	return counts, s.Err()
}

// CSV counts the rows of an answer in CSV, by some of its columns; all of them where the
// answer is of counts already.
func CSV(out []byte, columns []string) (Counts, error) {
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("answer in CSV: %d rows, %w", len(rows), err)
	}
	counts, head := Counts{}, rows[0]
	for _, cells := range rows[1:] {
		if len(cells) != len(head) {
			break // another table
		}
		row := map[string]string{}
		for i := range head {
			row[head[i]] = cells[i]
		}
		if n, err := strconv.ParseInt(row["count"], 10, 64); err == nil {
			if n > 0 {
				counts[key(row, columns)] += n
			}
		} else if fromTraffic(row) {
			counts[key(row, columns)]++
		}
	}
	return counts, nil
}

// Bpftrace reads the maps of bpftrace's output in JSON: counts by key, histograms by the
// lower bound of their buckets.
func Bpftrace(out []byte) (map[string]Counts, error) {
	all := map[string]Counts{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var line struct {
			Type string
			Data map[string]json.RawMessage
		}
		if json.Unmarshal(s.Bytes(), &line) != nil || line.Type != "map" && line.Type != "hist" {
			continue
		}
		for name, raw := range line.Data {
			counts, err := mapOf(line.Type, raw)
			if err != nil {
				return nil, fmt.Errorf("map %s: %w", name, err)
			}
			all[name] = counts
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no map in the output of bpftrace")
	}
	return all, nil
}

func mapOf(kind string, raw json.RawMessage) (Counts, error) {
	counts := Counts{}
	if kind == "map" {
		return counts, json.Unmarshal(raw, &counts)
	}
	var buckets []struct{ Min, Count int64 }
	if err := json.Unmarshal(raw, &buckets); err != nil {
		return nil, err
	}
	for _, b := range buckets {
		if b.Count > 0 {
			counts[strconv.FormatInt(b.Min, 10)] = b.Count
		}
	}
	return counts, nil
}
