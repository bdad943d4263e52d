package agg

import (
	"sort"

	"netrec/analyze/scan"
	"netrec/schema"
)

// LifeEvents are the events that begin and end lives: where one of them was lost, another
// socket may live at an address, unseen.
var LifeEvents = schema.EventsThat(func(e *schema.Event) bool {
	return e.Says == schema.SaysState || e.Says == schema.SaysMade || e.Says == schema.SaysGone
})

// OpenerEvents are the events that tell who opened a connection.
var OpenerEvents = schema.EventsThat(func(e *schema.Event) bool {
	return e.Says == schema.SaysState || e.Says == schema.SaysConnect || e.Says == schema.SaysAccept
})

// Gaps are the times in which rows of LifeEvents and of OpenerEvents were lost. They are to
// be filled before the first row.
func (t *Sockets) Gaps() (lives, openers *Gaps) { return &t.lives, &t.openers }

// Stretches are the times in which lives are known to have lasted, by address.
type Stretches map[uint64][]gap

// Collect makes the sockets note how long each life is known to have lasted.
func (t *Sockets) Collect() Stretches {
	t.collected = Stretches{}
	return t.collected
}

// Follow makes the sockets judge as others of the same recording do.
func (t *Sockets) Follow(o *Sockets) { t.lives, t.openers, t.trusted = o.lives, o.openers, o.trusted }

// Trust takes what an earlier pass over the recording has collected: a row that does not say
// whose it is belongs to the life that is proven before and after it.
func (t *Sockets) Trust(s Stretches) { t.trusted = s }

// until is the end of the stretch that a row proves a life to be in.
func (s Stretches) until(addr uint64, ts int64) int64 {
	all := s[addr]
	at := sort.Search(len(all), func(i int) bool { return all[i].to >= ts })
	if at < len(all) && all[at].from <= ts {
		return all[at].to
	}
	return 0
}

// doubts reports whether rows were lost since the life was last known to go on, and this one
// does not prove that it still does.
func (t *Sockets) doubts(s *Socket, r *scan.Row, kind schema.Says) bool {
	if r.TS > s.until && !t.proves(s, r, kind) {
		if t.lives.Between(s.sure, r.TS) {
			return true
		}
	} else if r.TS > s.until {
		s.until = t.trusted.until(s.Addr, r.TS)
	}
	s.sure = r.TS
	return false
}

// proves reports a row that can only be of the life: it has its cookie, or its address pair.
// The kernel gives a pair out again only after all the others it may choose.
func (t *Sockets) proves(s *Socket, r *scan.Row, kind schema.Says) bool {
	if t.copied(r, kind) {
		return false
	}
	if c := r.Int(t.col.Cookie); c != 0 && c == s.Cookie {
		return true
	}
	c := &t.col
	return kind != schema.SaysNothing && s.Lport != 0 && r.Int(c.Lport) == s.Lport && r.Int(c.Rport) == s.Rport && r.Str(c.Laddr) == s.Laddr && r.Str(c.Raddr) == s.Raddr
}

// identifies reports whether a row says itself which socket it is about.
func (t *Sockets) identifies(r *scan.Row, kind schema.Says) bool {
	c := &t.col
	return kind == schema.SaysState || r.Int(c.Cookie) != 0 || kind != schema.SaysNothing && r.Int(c.Lport) != 0
}

// elsewhereEnds reports whether a row has other ends than the life, so that it cannot be of it.
// Only TCP keeps its ends: a UDP socket may be connected again. Rows of listeners may have the ends of
// connections that they refused.
func (t *Sockets) elsewhereEnds(s *Socket, r *scan.Row, kind schema.Says) bool {
	switch kind {
	case schema.SaysState, schema.SaysAccept, schema.SaysClose, schema.SaysIO, schema.SaysConnect, schema.SaysPeer:
	default:
		return false
	}
	c := &t.col
	if s.Protocol != "tcp" || s.State == "LISTEN" || !r.HasStr(c.Laddr) {
		return false
	}
	l, w := r.Int(c.Lport), r.Int(c.Rport)
	if kind == schema.SaysState && r.Str(c.NewState) == "SYN_SENT" {
		l = 0 // that of the connection before
	}
	return !s.maybeL && otherEnd(s.Laddr, s.Lport, r.Str(c.Laddr), l) || !s.maybeR && otherEnd(s.Raddr, s.Rport, r.Str(c.Raddr), w)
}

// otherEnd compares two ends of which either may not be known yet.
func otherEnd(a string, p int64, b string, q int64) bool {
	return p != 0 && q != 0 && (p != q || !unspecified(a) && !unspecified(b) && a != b)
}

// stage is how far a TCP session has come: it never goes back.
type stage struct {
	rank int8
	ways int8 // bits: this host closes first, the other does, it listens
}

var stages = map[string]stage{"SYN_SENT": {1, 3}, "SYN_RECV": {2, 3}, "ESTABLISHED": {3, 3}, "FIN_WAIT1": {4, 1}, "FIN_WAIT2": {5, 1}, "CLOSING": {5, 1},
	"TIME_WAIT": {6, 1}, "CLOSE_WAIT": {4, 2}, "LAST_ACK": {5, 2}, "LISTEN": {1, 4}, "CLOSE": {7, 7}}

// skips reports a change from a state to which the session cannot have come unseen.
func (t *Sockets) skips(s *Socket, r *scan.Row) bool {
	old := r.Str(t.col.OldState)
	return old != s.State && (!mayFollow(s.State, old) || t.elsewhereEnds(s, r, schema.SaysState))
}

// mayFollow reports whether a session in a state can come to another one.
func mayFollow(state, next string) bool {
	a, known := stages[state]
	b, too := stages[next]
	return state == next || !known || !too || a.rank < b.rank && a.ways&b.ways != 0
}

// shows reports whether a row shows that the session of its socket goes on. Calls return
// after it is over, and read what is left of a TCP connection.
func shows(s *Socket, kind schema.Says) bool {
	switch kind {
	case schema.SaysConnect, schema.SaysPeer, schema.SaysAccept, schema.SaysClose:
		return false
	case schema.SaysIO:
		return s.Protocol == "udp"
	}
	return true
}

// strange is the socket of a row of which losses leave open whose it is. It is nobody's, and
// lives for this row only, so that nothing is joined with it.
func (t *Sockets) strange(addr uint64, r *scan.Row) *Socket {
	if t.stranger == nil {
		t.stranger = &Socket{slot: t.slots, Serial: noSerial}
		t.slots++
	}
	*t.stranger = Socket{Addr: addr, Netns: r.Int(t.col.Netns), Protocol: r.Str(t.col.Protocol), Serial: t.stranger.Serial - 1, slot: t.stranger.slot, First: r.TS, Last: r.TS, Strange: true}
	return t.stranger
}

// noSerial is the serial of a socket that is over; those of strangers are below.
const noSerial = -1

// openerLost reports whether the call that opened a connection may be among lost rows, so that
// who uses it now need not be who opened it.
func (t *Sockets) openerLost(s *Socket, now int64) bool {
	if s.Older || s.Protocol != "tcp" && s.Protocol != "" {
		return false
	}
	since := int64(0)
	if s.Born {
		since = s.First
	}
	return t.openers.Between(since, now)
}
