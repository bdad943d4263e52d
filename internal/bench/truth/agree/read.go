package agree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Lines reads the table that a tool printed: a heading with some columns, and lines of as
// many words. A column of counts is called count.
func Lines(out []byte, columns []string) (Rows, error) {
	var rows Rows
	var head []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		words := strings.Fields(s.Text())
		if head == nil {
			if !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(words, c) }) {
				head = words // what it says before is no row
			}
			continue
		}
		if len(words) < len(head) {
			continue // a stack below the line, or an empty one
		}
		row := map[string]string{}
		for i, name := range head {
			if name == "TOTAL_count" {
				name = "count"
			}
			row[name] = words[i]
		}
		rows = append(rows, row)
	}
	if head == nil {
		return nil, fmt.Errorf("no heading with the columns %s", strings.Join(columns, " "))
	}
	return rows, nil
}

var (
	histogramOf = regexp.MustCompile(`^\S+ = (\S+)\s*$`)
	bucket      = regexp.MustCompile(`^\s*(\d+) -> \d+\s*: (\d+)\s`)
)

// Histograms reads those of libbpf-tools: key, lower bound and count of each bucket.
func Histograms(out []byte) (Rows, error) {
	var rows Rows
	key := ""
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := histogramOf.FindStringSubmatch(s.Text()); m != nil {
			key = m[1]
		} else if m := bucket.FindStringSubmatch(s.Text()); m != nil {
			rows = append(rows, map[string]string{"key": key, "low": m[1], "count": m[2]})
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no histogram in the output")
	}
	return rows, nil
}

// Bpftrace reads the output of bpftrace in JSON: its maps, and what it printed.
func Bpftrace(out []byte) (maps map[string]Rows, printed []byte, err error) {
	maps = map[string]Rows{}
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var line struct {
			Type string
			Data json.RawMessage
		}
		if json.Unmarshal(s.Bytes(), &line) != nil {
			continue // warnings
		}
		switch line.Type {
		case "printf", "time":
			var text string
			if err := json.Unmarshal(line.Data, &text); err != nil {
				return nil, nil, err
			}
			printed = append(printed, text...)
		case "map", "hist", "lhist":
			var data map[string]json.RawMessage
			if err := json.Unmarshal(line.Data, &data); err != nil {
				return nil, nil, err
			}
			for name, raw := range data {
				if maps[strings.TrimPrefix(name, "@")], err = mapRows(raw); err != nil {
					return nil, nil, fmt.Errorf("map %s: %w", name, err)
				}
			}
		}
	}
	return maps, printed, s.Err()
}

// mapRows reads a map of bpftrace: a count or histogram, or one of either for each key.
func mapRows(raw json.RawMessage) (Rows, error) {
	var one int64
	if json.Unmarshal(raw, &one) == nil {
		return Rows{{"count": strconv.FormatInt(one, 10)}}, nil
	}
	var buckets []struct{ Min, Count int64 }
	if json.Unmarshal(raw, &buckets) == nil {
		var rows Rows
		for _, b := range buckets {
			rows = append(rows, map[string]string{"low": strconv.FormatInt(b.Min, 10), "count": strconv.FormatInt(b.Count, 10)})
		}
		return rows, nil
	}
	var keyed map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keyed); err != nil {
		return nil, err
	}
	var all Rows
	for key, raw := range keyed {
		rows, err := mapRows(raw)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			r["key"] = strings.ReplaceAll(key, ",", " ")
		}
		all = append(all, rows...)
	}
	return all, nil
}

// Answer reads a table of netrec's answer in JSON, the first if it is not named.
func Answer(out []byte, table string) (Rows, error) {
	var got struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, fmt.Errorf("answer in JSON: %w", err)
	}
	for _, a := range got.Answers {
		for _, t := range a.Tables {
			if table != "" && t.Name != table {
				continue
			}
			var rows Rows
			for _, cells := range t.Rows {
				row := map[string]string{}
				for name, raw := range cells {
					row[name] = cell(raw)
				}
				rows = append(rows, row)
			}
			return rows, nil
		}
	}
	return nil, fmt.Errorf("no table %s in the answer", table)
}

// cell is a value as text; numbers are as they are written.
func cell(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var symbol = regexp.MustCompile(`\{ (\d+), "(\w+)" \}`)

// Symbols reads the names of numbers in a tracepoint's format.
func Symbols(format []byte) map[string]string {
	names := map[string]string{}
	for _, m := range symbol.FindAllSubmatch(format, -1) {
		names[string(m[1])] = string(m[2])
	}
	return names
}
