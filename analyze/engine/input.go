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
	File *agg.File   // nil if no descriptor is known, or the analysis did not ask for Descriptors
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
	cols     scan.Columns
	sockets  bool
	files    bool
	owners   []*Keys // that go by the process of a row
	nogroup  int64   // rows of processes whose cgroup is not recorded, where keys go by it
	strange  int64   // rows of which losses leave open whose they are
	gaps     []lossOfEvents
	onLoss   []lossHandler
	older    string // what is unknown of sockets older than the recording
	onEnd    []func(*agg.Socket)
	onFile   []func(*agg.File, agg.FileEnd, int64)
	onlySock uint64
	tables   []*render.Table
	matched  int64  // rows of needed events that were handled
	none     string // why there is no row, if the analysis knows
	always   bool   // the answer does not depend on rows
	single   bool   // each line is about one socket
	scaled   scaled
	passed   [2]int64 // connects and accepts that no hook saw
	err      error
	broken   *Broken // it panicked and gets no more rows

	sawStack   func(text string) // user stacks, where the answer has any
	stackNotes func() []string

	task taskColumns // that Owner reads
}

type taskColumns struct {
	Pid       scan.Int
	Comm, Ctx scan.Str
}

type use struct {
	event   string
	without string // what the answer lacks if the event is not there
	handler Handler
	context bool // for rows that the selection leaves out, too
	first   bool // before the other handlers of the analysis
}

// Bind asks for the columns that the exported fields of a struct are named after, and fills
// these in: DurNs scan.Int is the column dur_ns. Asking makes the scan read them.
func (in *Input) Bind(dst any) { in.check(in.cols.Bind(dst)) }

// Int is the handle of a number column; asking makes the scan read it.
func (in *Input) Int(name string) scan.Int {
	c, err := in.cols.Int(name)
	in.check(err)
	return c
}

// Str is the handle of a string column.
func (in *Input) Str(name string) scan.Str {
	c, err := in.cols.Str(name)
	in.check(err)
	return c
}

func (in *Input) check(err error) {
	if err != nil {
		in.err = errors.Join(in.err, fmt.Errorf("analysis %s: %w", in.call.Analysis.Name, err))
	}
}

// On hands the rows of an event to h. Without the event there is no answer, unless the analysis
// always gives one.
func (in *Input) On(event string, h Handler) {
	if in.always {
		in.Use(event, "", h)
		return
	}
	in.needs = in.add(in.needs, use{event: event, handler: h})
}

// Use is On for an event that the answer is better with: without says what it lacks
// otherwise. The handler may be nil where Sockets needs the event.
func (in *Input) Use(event, without string, h Handler) {
	in.uses = in.add(in.uses, use{event: event, without: without, handler: h})
}

// Context is Use for rows that the analysis joins to others itself, such as those of
// poll(2): a selection of sockets or processes does not leave them out.
func (in *Input) Context(event, without string, h Handler) {
	in.uses = in.add(in.uses, use{event: event, without: without, handler: h, context: true})
}

// Before is Context for what has to be known of a row when the other handlers of the
// analysis get it. The answer does without it where the event was not recorded.
func (in *Input) Before(event string, h Handler) {
	in.uses = in.add(in.uses, use{event: event, handler: h, context: true, first: true})
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
	in.askTask()
}

// askTask asks for the columns that Owner reads.
func (in *Input) askTask() { in.Bind(&in.task) }

// Descriptors makes rows carry their file, and FD work. It implies Sockets.
func (in *Input) Descriptors(older string) {
	in.Sockets(older)
	in.files = true
}

// FD is the file that a descriptor of a process leads to at this moment, nil if it is not
// known to be a socket's.
func (in *Input) FD(pid, fd int64) *agg.File {
	f, _ := in.run.files.At(pid, fd)
	return f
}

// FileOf is the file of the socket at an address, nil if no descriptor of it is known.
func (in *Input) FileOf(addr uint64) *agg.File { return in.run.files.Of(addr) }

// SocketAt is the life that the socket at an address is in, nil if none is known.
func (in *Input) SocketAt(addr uint64) *agg.Socket { return in.run.sockets.At(addr) }

// Parent is the process that a process was forked from, 0 if that was not seen.
func (in *Input) Parent(pid int64) int64 { return in.run.files.Parent(pid) }

// OnFileEnd calls f for every file when its last descriptor was closed, or the recording
// ended. Selections by process or address do not apply to files.
func (in *Input) OnFileEnd(f func(f *agg.File, how agg.FileEnd, ts int64)) {
	in.onFile = append(in.onFile, f)
}

// WithoutIdentity is what an answer about sockets lacks without one of IdentityEvents.
const WithoutIdentity = "owners, ends and lives of sockets are less certain"

// identities adds the events that Sockets needs and the analysis did not name.
func (in *Input) identities() {
	if !in.sockets && slices.ContainsFunc(in.owners, func(k *Keys) bool { return !k.OnCPU }) &&
		slices.ContainsFunc(in.events(), func(e string) bool { return schema.ByName(e) != nil && !calls[schema.ByName(e).ID] }) {
		in.Sockets("")
	}
	for _, e := range agg.IdentityEvents {
		if in.sockets && !slices.Contains(in.events(), e) {
			in.uses = append(in.uses, use{event: e, without: WithoutIdentity})
		}
	}
	for _, e := range agg.DescriptorEvents {
		if in.files && !slices.Contains(in.events(), e) {
			in.uses = append(in.uses, use{event: e, without: "which socket a descriptor leads to is less certain"})
		}
	}
	for _, e := range agg.IdentityHelp {
		if in.sockets && !slices.Contains(in.events(), e) {
			in.uses = append(in.uses, use{event: e})
		}
	}
}

// OnEnd calls f for every selected socket when its life is over or the recording is.
func (in *Input) OnEnd(f func(*agg.Socket)) { in.onEnd = append(in.onEnd, f) }

// Owner is the process a row belongs to: the task whose call made it, else the owner of
// the socket, else the task on the CPU if the row is none of an interrupt, else none.
func (in *Input) Owner(r *Row) (pid int64, comm string) {
	if in.ofTask(r) {
		pid, comm = r.Int(in.task.Pid), r.Str(in.task.Comm)
		return pid, r.Sock.Process(pid, comm)
	}
	if r.Sock != nil {
		return r.Sock.Pid, r.Sock.Comm
	}
	return 0, ""
}

func (in *Input) ofTask(r *Row) bool {
	return ofTask(r.Row, r.Str(in.task.Ctx), r.Sock != nil && r.Sock.Pid != 0)
}

// Recorded reports whether the file has what happened of an event.
func (in *Input) Recorded(event string) bool { return present(in.Meta, event).status == Answered }

// FirstOf is the first of several events that the file has, or the first of all.
func (in *Input) FirstOf(events ...string) string {
	for _, e := range events {
		if in.Recorded(e) {
			return e
		}
	}
	return events[0]
}

// Table adds a table to the answer, for render.ListOf.
func (in *Input) Table(s render.Spec) *render.Table {
	t := in.Answer.Table(s)
	in.tables = append(in.tables, t)
	return t
}

// Tap takes the values of a histogram as they come, nil if nobody asked for them.
func (in *Input) Tap(table string) func(value int64) {
	if in.call.Tap == nil {
		return nil
	}
	return func(v int64) { in.call.Tap(table, in.run.now, v) }
}

// Addr is the address given as the argument.
func (in *Input) Addr() uint64 { return in.addr }

// OnlySock limits the scan to one socket address.
func (in *Input) OnlySock(addr uint64) { in.onlySock = addr }

// Always marks an analysis that answers from the metadata too, whatever events there are.
func (in *Input) Always() { in.always = true }

// Start is when the recording began, Unix nanoseconds.
func (in *Input) Start() int64 { return in.Meta.Start() }

// Selects reports that rows of the recording are left out as the user asked.
func (in *Input) Selects() bool { return in.run != nil && in.run.sel.any() }

// End is when the recording, or the selected part of it, ended.
func (in *Input) End() int64 {
	if in.run == nil {
		return max(in.Meta.LastNS, in.Meta.Recording.StopNS)
	}
	end := in.run.end()
	if in.run.sel.To != 0 {
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
