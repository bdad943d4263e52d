package export

import (
	"bufio"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"netrec/analyze/render"
)

// Field numbers of Perfetto's trace format, protos/perfetto/trace in its source. Only
// what is written here.
const (
	tracePacket = 1 // Trace.packet

	packetClockSnapshot = 6 // TracePacket
	packetTimestamp     = 8
	packetSequence      = 10
	packetTrackEvent    = 11
	packetFlags         = 13
	packetClockID       = 58
	packetTrack         = 60

	snapshotClocks  = 1 // ClockSnapshot
	snapshotPrimary = 2
	clockID         = 1 // ClockSnapshot.Clock
	clockTimestamp  = 2

	trackUUID    = 1 // TrackDescriptor
	trackName    = 2
	trackProcess = 3
	trackParent  = 5
	trackCounter = 8
	processPid   = 1 // ProcessDescriptor
	processName  = 6
	counterUnit  = 6 // CounterDescriptor.unit_name

	eventAnnotation = 4 // TrackEvent
	eventType       = 9
	eventTrack      = 11
	eventCategory   = 22
	eventName       = 23
	eventCounter    = 30

	annotationInt    = 4 // DebugAnnotation
	annotationString = 6
	annotationName   = 10
)

// Types of a TrackEvent.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counter    = 4
)

// Clocks of Perfetto.
const (
	clockRealtime  = 1
	clockMonotonic = 3
)

// sequence is the one writer of the trace; 0 would be none.
const sequence = 1

// stateCleared marks the first packet of a writer. Readers leave out events of writers
// whose beginning they have not seen.
const stateCleared = 1

// message is a protobuf message being built.
type message []byte

func (m *message) num(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

// text adds a string that may hold anything: what shows a trace is a page in a browser.
func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), render.AppendSafe(nil, s))
}

func (m *message) sub(field protowire.Number, s message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

// trace writes packets.
type trace struct {
	out    *bufio.Writer
	clock  uint64
	offset int64 // from Unix time to the clock's
	packet message
	event  message
}

func newTrace(w io.Writer) *trace { return &trace{out: bufio.NewWriterSize(w, 1<<16)} }

// write ends a packet. Errors stay with the writer until it is flushed.
func (t *trace) write(p message) {
	t.packet = p
	var head [16]byte
	b := protowire.AppendTag(head[:0], tracePacket, protowire.BytesType)
	t.out.Write(protowire.AppendVarint(b, uint64(len(p))))
	t.out.Write(p)
}

// snapshot says how the clocks stood to each other, for viewers that show the time of day.
func (t *trace) snapshot(clocks map[uint64]int64) {
	var s message
	for _, id := range []uint64{clockRealtime, clockMonotonic} {
		if ns, ok := clocks[id]; ok {
			var c message
			c.num(clockID, id)
			c.num(clockTimestamp, uint64(ns))
			s.sub(snapshotClocks, c)
		}
	}
	s.num(snapshotPrimary, t.clock)
	p := t.packet[:0]
	p.num(packetSequence, sequence)
	p.num(packetFlags, stateCleared)
	p.sub(packetClockSnapshot, s)
	t.write(p)
}

// track is a row of the picture.
type track struct {
	uuid, parent uint64
	name         string
	pid          int64  // of a process
	unit         string // of a counter
}

func (t *trace) track(k track) {
	var d message
	d.num(trackUUID, k.uuid)
	switch {
	case k.pid != 0:
		var p message
		p.num(processPid, uint64(k.pid))
		p.text(processName, k.name)
		d.sub(trackProcess, p)
	default:
		d.text(trackName, k.name)
	}
	if k.parent != 0 {
		d.num(trackParent, k.parent)
	}
	if k.unit != "" {
		var c message
		c.text(counterUnit, k.unit)
		d.sub(trackCounter, c)
	}
	p := t.packet[:0]
	p.num(packetSequence, sequence)
	p.sub(packetTrack, d)
	t.write(p)
}

// note is a fact about an event.
type note struct {
	name string
	num  int64
	text string // instead of the number, if not empty
}

// on writes an event of a track; ends of slices have no name.
func (t *trace) on(uuid uint64, ts int64, kind uint64, category, name string, notes ...note) {
	e := t.begin(uuid, kind)
	if name != "" {
		e.text(eventCategory, category)
		e.text(eventName, name)
	}
	for _, n := range notes {
		var a message
		a.text(annotationName, n.name)
		if n.text != "" {
			a.text(annotationString, n.text)
		} else {
			a.num(annotationInt, uint64(n.num))
		}
		e.sub(eventAnnotation, a)
	}
	t.end(ts, e)
}

// count writes the value of a counter.
func (t *trace) count(uuid uint64, ts, v int64) {
	e := t.begin(uuid, counter)
	e.num(eventCounter, uint64(v))
	t.end(ts, e)
}

func (t *trace) begin(uuid, kind uint64) message {
	e := t.event[:0]
	e.num(eventType, kind)
	e.num(eventTrack, uuid)
	return e
}

func (t *trace) end(ts int64, e message) {
	t.event = e
	p := t.packet[:0]
	p.num(packetTimestamp, uint64(max(0, ts-t.offset)))
	p.num(packetClockID, t.clock)
	p.num(packetSequence, sequence)
	p.sub(packetTrackEvent, e)
	t.write(p)
}
