package eventtext

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"netrec/schema"
)

// line parses one row and adds it as often as it says.
func (s *Source) line(line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	if len(words) < 2 {
		return fmt.Errorf("%q: want a time and an event", line)
	}
	after, err := time.ParseDuration(strings.TrimPrefix(words[0], "+"))
	if err != nil {
		return err
	}
	r := row{ts: s.meta.Recording.StartNS + int64(after), event: schema.ByName(words[1])}
	if r.event == nil {
		return fmt.Errorf("no event %q", words[1])
	}
	repeat := 1
	set := map[string]bool{}
	for _, w := range words[2:] {
		if n, ok := strings.CutPrefix(w, "*"); ok {
			if repeat, err = strconv.Atoi(n); err != nil {
				return err
			}
			continue
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return fmt.Errorf("%q: want column=value", w)
		}
		if err := r.set(name, value, set); err != nil {
			return err
		}
	}
	if err := r.defaults(set, int64(len(s.rows))); err != nil {
		return err
	}
	for range repeat {
		s.rows = append(s.rows, r)
		r = r.next()
	}
	return nil
}

// next is the row repeated: a nanosecond later, with addresses a step further.
func (r row) next() row {
	r.ts++
	if !slices.ContainsFunc(r.cells, func(c cell) bool { return c.step != 0 }) {
		return r
	}
	r.cells = slices.Clone(r.cells)
	for i := range r.cells {
		r.cells[i].num += r.cells[i].step
	}
	return r
}

// defaults fills the columns that no row is without.
func (r *row) defaults(set map[string]bool, seq int64) error {
	fill := [][2]string{{"ctx", "task"}, {"comm", "prog"}, {"pid", "1000"}, {"netns", "4026531840"},
		{"event", r.event.Name}, {"ts_ns", strconv.FormatInt(r.ts, 10)}, {"seq", strconv.FormatInt(seq, 10)}}
	for _, f := range fill {
		if set[f[0]] {
			continue
		}
		if err := r.add(f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

func (r *row) set(name, value string, set map[string]bool) error {
	set[name] = true
	if name != "conn" {
		return r.add(name, value)
	}
	from, to, ok := strings.Cut(value, ">")
	if !ok {
		return fmt.Errorf("%q: want local>remote", value)
	}
	for i, end := range []string{from, to} {
		ap, err := netip.ParseAddrPort(end)
		if err != nil {
			return err
		}
		side := [2]string{"l", "r"}[i]
		if err := r.add(side+"addr", ap.Addr().String()); err != nil {
			return err
		}
		if err := r.add(side+"port", strconv.Itoa(int(ap.Port()))); err != nil {
			return err
		}
	}
	return nil
}

func (r *row) add(name, value string) error {
	c := schema.ColumnIndex(name)
	if c < 0 {
		return fmt.Errorf("no column %q", name)
	}
	cl := cell{col: c}
	var err error
	switch schema.Columns[c].Type {
	case schema.String:
		cl.str = value
		if strings.HasPrefix(value, `"`) {
			cl.str, err = strconv.Unquote(value)
		}
	case schema.Uint64:
		var u, step uint64
		at, by, _ := strings.Cut(value, "+")
		if u, err = strconv.ParseUint(at, 0, 64); err == nil && by != "" {
			step, err = strconv.ParseUint(by, 0, 64)
		}
		cl.num, cl.step = int64(u), int64(step)
	default:
		cl.num, err = strconv.ParseInt(value, 0, 64)
	}
	if err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	r.cells = append(r.cells, cl)
	return nil
}

// split cuts a line at blanks outside quotes.
func split(line string) ([]string, error) {
	var words []string
	start, quoted := -1, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if start < 0 {
				start = i
			}
		case (c == ' ' || c == '\t') && !quoted:
			if start >= 0 {
				words = append(words, line[start:i])
				start = -1
			}
		case start < 0:
			start = i
		}
	}
	if quoted {
		return nil, fmt.Errorf("%q: quote not closed", line)
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words, nil
}
