package scan

import (
	"math"
	"slices"

	"netrec/schema"
)

// Source is a recording: a capture file, or events made by hand in a test.
type Source interface {
	Meta() *Meta
	// Scan calls f for every row that the query selects, in the order of ts_ns
	// (rows of equal time in the order of cpu and seq). An error from f ends the
	// scan and is returned.
	Scan(q Query, f func(*Row) error) error
}

// Query says what a scan must deliver. Zero values select everything.
type Query struct {
	Events   []string // only these events; nil for all
	Columns  []Col    // only these columns are filled (ts_ns and event always are); nil for all
	From, To int64    // only ts_ns in [From, To); 0 for no limit
	Sock     uint64   // only this socket address; 0 for all

	// Show has, for columns of strings, what rows show in place of a value. It is called once
	// for each different value of a row group, by one goroutine at a time.
	Show map[Col]func(string) string
}

// Meta is what the file says about itself.
type Meta struct {
	Path       string
	Words      []string // of a command line that names the files, where they are several
	Size       int64
	Stored     int64            // what it takes on the disk: less than its size by the holes of earlier footers
	Rows       map[string]int64 // rows by event, from the row groups' statistics and contents
	FirstNS    int64            // earliest and latest ts_ns
	LastNS     int64
	Host       schema.Host
	Clock      []schema.Anchor
	Recording  schema.Recording
	Hooks      []schema.EventHooks
	Losses     []schema.Count
	Budget     *schema.Budget // nil where there was none
	Sysctls    map[string]string
	Interfaces []schema.Interface
	Qdiscs     []schema.Qdisc
	Sockets    []schema.Socket
	Counters   schema.Counters
	Enums      map[string]map[string]int64 // the kernel's own numbers, by names of schema.Enums
	Objects    []schema.Object
	Version    string // netrec that wrote it; "" if it was not netrec

	// Problems are what the reader must be told first, one sentence each: the
	// recording was killed, 1,234 bytes after the last commit are unreadable …
	Problems []string
}

// Start is when the recording began, Unix nanoseconds. Recorders before the one that says
// how long attaching took made rows while they attached; theirs begins with the first.
func (m *Meta) Start() int64 {
	if s := m.Recording.StartNS; s != 0 && s <= m.FirstNS {
		return s
	}
	return m.FirstNS
}

// Share is which part of an event was recorded, nil for all of it; the least, where a budget changed
// it.
func (m *Meta) Share(event string) *schema.Share {
	s, e := m.BaseShare(event), schema.ByName(event)
	if e == nil || m.Budget.Least(e.Class()) == 1 || m.Rows[event] == 0 && !m.attached(event) {
		if s.Part() {
			return &s
		}
		return nil
	}
	return &schema.Share{Keep: s.Keep, Of: uint32(min(uint64(s.Of)*uint64(m.Budget.Least(e.Class())), math.MaxUint32)), By: e.Thin}
}

// BaseShare is the part of an event that is recorded whatever the budget.
func (m *Meta) BaseShare(event string) schema.Share {
	for i := range m.Hooks {
		if s := m.Hooks[i].Share; m.Hooks[i].Event == event && s.Part() {
			return *s
		}
	}
	return schema.Share{Keep: 1, Of: 1}
}

func (m *Meta) attached(event string) bool {
	return slices.ContainsFunc(m.Hooks, func(h schema.EventHooks) bool { return h.Event == event && h.State == schema.HookAttached })
}
