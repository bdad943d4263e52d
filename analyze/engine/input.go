package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Row is a row with the socket it belongs to.
type Row struct {
	*scan.Row
	Sock *agg.Socket // nil if the row has none, or the analysis did not ask for Sockets
}

// Handler takes the rows of one event.
type Handler func(*Row)

// Input is what an analysis sees of the recording and of its call.
type Input struct {
	Meta   *scan.Meta
	Answer *render.Answer

	call     Call
	addr     uint64
	run      *run // nil while only needs are asked for
	needs    []use
	uses     []use
	cols     []scan.Col
	sockets  bool
	older    string // what is unknown of sockets older than the recording
	onEnd    []func(*agg.Socket)
	onlySock uint64
	tables   []*render.Table
	matched  int64 // rows of needed events that were handled
	always   bool  // the answer does not depend on rows
	err      error

	pid, comm, ctx scan.Col
}

type use struct {
	event   string
	without string // what the answer lacks if the event is not there
	handler Handler
}

// Int is the handle of a number column; asking makes the scan read it.
func (in *Input) Int(name string) scan.Col { return in.column(name, false) }

// Str is the handle of a string column.
func (in *Input) Str(name string) scan.Col { return in.column(name, true) }

func (in *Input) column(name string, str bool) scan.Col {
	i := schema.ColumnIndex(name)
	if i < 0 || (schema.Columns[i].Type == schema.String) != str {
		in.err = errors.Join(in.err, fmt.Errorf("analysis %s: no such column of that type: %s", in.call.Analysis.Name, name))
		return 0
	}
	if c := scan.Col(i); !slices.Contains(in.cols, c) {
		in.cols = append(in.cols, c)
	}
	return scan.Col(i)
}

// On hands the rows of an event to h. Without the event there is no answer.
func (in *Input) On(event string, h Handler) {
	in.needs = in.add(in.needs, use{event: event, handler: h})
}

// Use is On for an event that the answer is better with: without says what it lacks
// otherwise. The handler may be nil where Sockets needs the event.
func (in *Input) Use(event, without string, h Handler) {
	in.uses = in.add(in.uses, use{event, without, h})
}

func (in *Input) add(us []use, u use) []use {
	if schema.ByName(u.event) == nil {
		in.err = errors.Join(in.err, fmt.Errorf("analysis %s: no such event: %s", in.call.Analysis.Name, u.event))
	}
	return append(us, u)
}

// Sockets makes rows carry their socket. older says what the answer does not know
// of sockets that are older than the recording.
func (in *Input) Sockets(older string) {
	in.sockets, in.older = true, older
	in.pid, in.comm, in.ctx = in.Int("pid"), in.Str("comm"), in.Str("ctx")
}

// identities adds the events that Sockets needs and the analysis did not name.
func (in *Input) identities() {
	for _, e := range agg.IdentityEvents {
		if in.sockets && !slices.Contains(in.events(), e) {
			in.uses = append(in.uses, use{event: e, without: "owners, ends and lives of sockets are less certain"})
		}
	}
}

// OnEnd calls f for every selected socket when its life is over or the recording is.
func (in *Input) OnEnd(f func(*agg.Socket)) { in.onEnd = append(in.onEnd, f) }

// Owner is the process a row belongs to: the task on the CPU if the row ran for it,
// else the owner of the socket, else none.
func (in *Input) Owner(r *Row) (pid int64, comm string) {
	if byTask(r.Row, r.Str(in.ctx)) {
		return r.Int(in.pid), r.Str(in.comm)
	}
	if r.Sock != nil {
		return r.Sock.Pid, r.Sock.Comm
	}
	return 0, ""
}

// Table adds a table to the answer.
func (in *Input) Table(s render.Spec) *render.Table {
	t := in.Answer.Table(s)
	in.tables = append(in.tables, t)
	return t
}

// Addr is the address given as the argument.
func (in *Input) Addr() uint64 { return in.addr }

// OnlySock limits the scan to one socket address.
func (in *Input) OnlySock(addr uint64) { in.onlySock = addr }

// Always marks an analysis that answers from the metadata too, whatever events there are.
func (in *Input) Always() { in.always = true }

// Start is when the recording began, Unix nanoseconds.
func (in *Input) Start() int64 {
	if s := in.Meta.Recording.StartNS; s != 0 && s <= in.Meta.FirstNS {
		return s
	}
	return in.Meta.FirstNS
}

// End is when the recording, or the selected part of it, ended.
func (in *Input) End() int64 {
	end := max(in.Meta.LastNS, in.Meta.Recording.StopNS)
	if in.run != nil && in.run.sel.To != 0 {
		end = min(end, in.run.sel.To)
	}
	return end
}

// Local shifts Unix nanoseconds to the clock on the recording host's wall.
func (in *Input) Local(ts int64) int64 { return ts + int64(in.Meta.Host.Offset)*1e9 }

// Flag is whether an option was given.
func (in *Input) Flag(name string) bool { return in.value(name) == "true" }

// Number is the value of a number option.
func (in *Input) Number(name string) int {
	n, _ := strconv.Atoi(in.value(name))
	return n
}

// Text is the value of a text or choice option.
func (in *Input) Text(name string) string { return in.value(name) }

func (in *Input) value(name string) string {
	for i := range in.call.Analysis.Options {
		o := &in.call.Analysis.Options[i]
		if o.Name != name {
			continue
		}
		if v, ok := in.call.Options[name]; ok {
			return v
		}
		return o.Default
	}
	in.err = errors.Join(in.err, fmt.Errorf("analysis %s: no such option: %s", in.call.Analysis.Name, name))
	return ""
}
