package truth

import (
	"fmt"
	"sort"

	"netrec/analyze/scan"
	"netrec/schema"
)

// Row is one row of a recording, with every column that is not NULL.
type Row struct {
	TS    int64 // monotonic ns, as the traffic's log has it
	Event string
	Int   map[string]int64
	Str   map[string]string
}

// Capture is a recording in memory; those made for truth are small.
type Capture struct {
	Meta *scan.Meta
	Rows []Row // by time
}

// roomy is the memory for all rows of a recording of all traffic, as maps.
const roomy = 2 << 30

// Load reads a whole recording.
func Load(path string) (*Capture, error) {
	f, err := scan.Open(path, scan.Options{Memory: roomy})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Capture{Meta: f.Meta()}
	if len(c.Meta.Clock) == 0 {
		return nil, fmt.Errorf("recording %s: no clock anchors", path)
	}
	offset := c.Meta.Clock[0].Wall - c.Meta.Clock[0].Mono
	err = f.Scan(scan.Query{}, func(r *scan.Row) error {
		row := Row{TS: r.TS - offset, Event: r.Event.Name, Int: map[string]int64{}, Str: map[string]string{}}
		for i, col := range schema.Columns {
			switch {
			case !r.HasAt(scan.Col(i)):
			case col.Type == schema.String:
				row.Str[col.Name] = r.Str(scan.StrAt(scan.Col(i)))
			default:
				row.Int[col.Name] = r.Int(scan.IntAt(scan.Col(i)))
			}
		}
		c.Rows = append(c.Rows, row)
		return nil
	})
	return c, err
}

// Select gives the rows of an event for which all conditions hold, by time.
func (c *Capture) Select(event string, when ...func(*Row) bool) []Row {
	var out []Row
next:
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Event != event {
			continue
		}
		for _, w := range when {
			if !w(r) {
				continue next
			}
		}
		out = append(out, *r)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].TS < out[j].TS })
	return out
}

// Between holds for rows of a span of time.
func Between(from, to int64) func(*Row) bool {
	return func(r *Row) bool { return r.TS >= from && r.TS <= to }
}

// Is holds for rows whose string column has the value.
func Is(col, value string) func(*Row) bool {
	return func(r *Row) bool { return r.Str[col] == value }
}

// Num holds for rows whose number column has the value.
func Num(col string, value int64) func(*Row) bool {
	return func(r *Row) bool { v, ok := r.Int[col]; return ok && v == value }
}
