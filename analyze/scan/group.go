package scan

import (
	"errors"

	"netrec/analyze/parquetfile"
	"netrec/schema"
)

// Columns that the reader itself needs.
var (
	colTS    = Col(schema.ColumnIndex("ts_ns"))
	colEvent = Col(schema.ColumnIndex("event"))
	colCPU   = Col(schema.ColumnIndex("cpu"))
	colSeq   = Col(schema.ColumnIndex("seq"))
	colSock  = Col(schema.ColumnIndex("sock"))
)

// maxName is far longer than the name of any event.
const maxName = 128

// group is one row group and what its columns may hold. Its filter is the one on sock.
type group struct {
	parquetfile.Group

	tsMin, tsMax int64
	hasTS        bool // tsMin and tsMax are known
	tsNulls      int64

	sockMin, sockMax uint64
	hasSock          bool

	event string // of every row, "" if the statistics do not say so

	events []*schema.Event // kinds of rows in the group, without unknown ones; known once the file is open
}

// nextGroup reads a row group of a checkpoint.
func nextGroup(r *parquetfile.Groups, t *parquetfile.Table, leaves []parquetfile.Leaf) (group, error) {
	g, stats, err := r.Next(t, leaves)
	if err != nil {
		return group{}, err
	}
	return newGroup(g, stats)
}

// newGroup takes from the statistics what selects row groups later.
func newGroup(pg parquetfile.Group, s parquetfile.Stats) (group, error) {
	g := group{Group: pg}
	if g.Rows == 0 {
		return g, nil
	}
	if c, ok := s.Of(int(colTS)); ok {
		g.tsNulls = max(c.Nulls(), 0)
		g.tsMin, g.tsMax, g.hasTS = c.Ints()
	}
	if c, ok := s.Of(int(colSock)); ok {
		g.Filter = c.Filter()
		g.sockMin, g.sockMax, g.hasSock = c.Uints()
	}
	if c, ok := s.Of(int(colEvent)); ok {
		g.event = c.Only(maxName)
	}
	if g.hasTS && g.tsMin > g.tsMax {
		return g, errors.New("column ts_ns: statistics contradict each other")
	}
	return g, nil
}

func (g *group) parquet() *parquetfile.Group { return &g.Group }
