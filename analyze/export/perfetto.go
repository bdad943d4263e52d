package export

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Kinds of tracks that a socket has; its uuid is its serial number and the kind.
const (
	trackStates = iota // the socket itself
	trackCong
	trackHeld
	trackCwnd
	kindsOfTracks
)

// Tracks that are not of one socket. Those of sockets follow, those of processes have
// the upper bit.
const (
	trackNobody  = 1 + iota // sockets whose process is not known
	trackNoSock             // packets of no socket
	trackStrange            // sockets that losses leave open
	firstSocket  = 16
	processBit   = 1 << 63
)

// perfetto is a trace being written. The recording is read twice: who a socket is is
// known at the end of its life, and tracks are named before their events.
type perfetto struct {
	trace
	src     scan.Source
	judge   *agg.Sockets // knows what was lost
	gaps    map[string]*agg.Gaps
	sockets *agg.Sockets
	lives   agg.PerSocket[life]
	events  []string
	col     perfettoCols
	start   int64
	stop    int64
	shared  bool // not every attempt to send is in the recording
	lossy   bool // ends of sockets may be missing
	procs   map[proc]uint64
	full    *scan.Full // memory ended a reading here
}

type proc struct {
	pid  int64
	comm string
}

// life is what is shown of a socket at the moment.
type life struct {
	seen   [kindsOfTracks]bool  // first reading: it has such events
	open   [kindsOfTracks]slice // second reading: what is open
	nxt    uint32
	wrote  int64 // ts_ns of the newest attempt to send, the first row before that
	cwnd   int64
	states int
}

// slice is an open one.
type slice struct {
	name string // "" for none
	sure int64  // ts_ns until which it is known to have lasted
}

// maxProcs bounds the processes that have a track of their own.
const maxProcs = 1 << 16

// Perfetto writes a trace of native track events: processes and their sockets as
// tracks; TCP states, congestion and data that is held back as slices; retransmits,
// drops and resets as instants; the congestion window as a counter. The error is a *scan.Full
// if that is what ended the rows.
func Perfetto(src scan.Source, w io.Writer) error {
	p := &perfetto{trace: *newTrace(w), src: src, procs: map[proc]uint64{}, col: newPerfettoCols(),
		gaps: map[string]*agg.Gaps{"tcp_state": {}, "tcp_cong_state": {}, "tcp_write_xmit": {}}}
	m := src.Meta()
	p.shared = m.Share("tcp_write_xmit") != nil
	p.start, p.stop = m.FirstNS, max(m.LastNS, m.Recording.StopNS)
	p.events = slices.Concat(agg.IdentityEvents, agg.IdentityHelp)
	for e := range shown {
		if !slices.Contains(p.events, e) {
			p.events = append(p.events, e)
		}
	}
	p.clocks(m.Clock)
	p.track(track{uuid: trackNobody, name: "sockets of no known process"})
	p.track(track{uuid: trackNoSock, name: "packets of no socket"})
	var err error
	if p.judge, p.full, err = engine.SocketsOf(src, p.events, p.gaps); err != nil {
		return err
	}
	if p.full != nil {
		p.stop = min(p.stop, p.full.At)
	}
	lives, _ := p.judge.Gaps()
	if p.lossy = lives.Any(); p.lossy {
		p.track(track{uuid: trackStrange, name: "of sockets that lost rows leave open"})
	}
	if err := p.read(p.look, p.name); err != nil {
		return err
	}
	if err := p.read(p.show, p.close); err != nil {
		return err
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return p.full.Err()
}

// clocks takes the recorder's clock, with which traces of others can be combined; a file
// without anchors has only the time of day.
func (p *perfetto) clocks(anchors []schema.Anchor) {
	p.clock = clockRealtime
	clocks := map[uint64]int64{clockRealtime: p.start}
	if len(anchors) > 0 && anchors[0].Mono > 0 {
		a := anchors[0]
		p.clock, p.offset = clockMonotonic, a.Wall-a.Mono
		clocks = map[uint64]int64{clockRealtime: a.Wall, clockMonotonic: a.Mono}
	}
	p.snapshot(clocks)
}

// read passes all rows with their sockets, and the ends of these.
func (p *perfetto) read(row func(*scan.Row, *agg.Socket), end func(*agg.Socket)) error {
	p.sockets, p.lives = agg.SocketsOf(p.src.Meta()), agg.PerSocket[life]{}
	p.sockets.Follow(p.judge)
	p.sockets.OnEnd(end)
	q := scan.Query{Events: p.events, Columns: slices.Concat(p.sockets.Columns(), p.col.asked.All())}
	if p.full != nil {
		q.To = p.full.At + 1 // tracks of later sockets have no name
	}
	n := 0
	full, err := scan.Fitted(p.src.Scan(q, func(r *scan.Row) error {
		row(r, p.sockets.Feed(r))
		if n++; n&0xfff == 0 {
			_, err := p.out.Write(nil) // an error of the output stays with it
			return err
		}
		return nil
	}))
	if err != nil {
		return err
	}
	if full != nil {
		p.full, p.stop = full, min(p.stop, full.At)
	}
	p.sockets.Close()
	return nil
}

// look notes which tracks a socket needs.
func (p *perfetto) look(r *scan.Row, s *agg.Socket) {
	if k, ok := shown[r.Event.Name]; ok && s != nil && !s.Strange {
		l := p.lives.Of(s)
		l.seen[trackStates] = true
		for _, kind := range k {
			l.seen[kind] = true
		}
	}
}

// name writes the tracks of a socket, of which all is known now.
func (p *perfetto) name(s *agg.Socket) {
	l := p.lives.Of(s)
	if !l.seen[trackStates] {
		return
	}
	own := uuid(s, trackStates)
	p.track(track{uuid: own, parent: p.process(s), name: socketName(s)})
	for _, k := range []struct {
		kind int
		name string
		unit string
	}{{trackCong, "congestion control", ""}, {trackHeld, "data held back", ""}, {trackCwnd, "congestion window", "segments"}} {
		if l.seen[k.kind] {
			p.track(track{uuid: uuid(s, k.kind), parent: own, name: k.name, unit: k.unit})
		}
	}
}

func uuid(s *agg.Socket, kind int) uint64 {
	return firstSocket + uint64(s.Serial)*kindsOfTracks + uint64(kind)
}

// process is the track of the socket's owner.
func (p *perfetto) process(s *agg.Socket) uint64 {
	key := proc{s.Pid, s.Comm}
	id, ok := p.procs[key]
	switch {
	case ok:
		return id
	case s.Pid <= 0 || len(p.procs) >= maxProcs:
		return trackNobody
	}
	id = processBit | uint64(len(p.procs)+1)
	p.procs[key] = id
	p.track(track{uuid: id, pid: s.Pid, name: s.Comm})
	return id
}

// socketName tells sockets apart, also those of the same ends and address.
func socketName(s *agg.Socket) string {
	ends := "unconnected"
	switch {
	case s.Rport != 0:
		ends = end(s.Laddr, s.Lport) + " > " + end(s.Raddr, s.Rport)
	case s.Lport != 0:
		ends = end(s.Laddr, s.Lport)
	}
	proto := s.Protocol
	if proto == "" {
		proto = "socket"
	}
	return fmt.Sprintf("%s %s 0x%x #%d", proto, ends, s.Addr, s.Gen)
}

func end(addr string, port int64) string { return net.JoinHostPort(addr, strconv.FormatInt(port, 10)) }
