package agg

import (
	"netrec/analyze/scan"
	"netrec/schema"
)

// rowKind is what a row of an event can say about its socket.
type rowKind uint8

const (
	silentRow rowKind = iota // nothing but the cookie
	tupleRow                 // the ends
	stateRow
	connectRow
	acceptRow
	closeRow
	ioRow
	madeRow // socket(2)
	bindRow
	goneRow // nothing of the socket follows but the return of close(2)
)

// rowKinds lists the kind of each event, by its id.
func rowKinds() []rowKind {
	kinds := make([]rowKind, schema.MaxID)
	for _, name := range schema.Columns[schema.ColumnIndex("lport")].Events {
		kinds[schema.ByName(name).ID] = tupleRow
	}
	// These are of a listener, and their ends those of a connection to be.
	for _, name := range []string{"tcp_syn_arrive", "tcp_synack_retrans"} {
		kinds[schema.ByName(name).ID] = silentRow
	}
	for name, k := range map[string]rowKind{"tcp_state": stateRow, "sys_connect": connectRow,
		"sys_accept": acceptRow, "tcp_accept_fn": acceptRow, "udp_connect": connectRow, "sys_close": closeRow, "sock_io": ioRow, "sock_stack": ioRow,
		"tcp_connect_fn": connectRow, "tcp_msg": ioRow, "udp_msg": ioRow, "sys_socket": madeRow, "sys_bind": bindRow, "udp_gone": goneRow} {
		kinds[schema.ByName(name).ID] = k
	}
	return kinds
}

// cookie takes the cookie, and with it what the list of sockets alive at the start says.
func (t *Sockets) cookie(s *Socket, r *scan.Row) {
	s.Cookie = r.Int(t.col.cookie)
	if s.Cookie == 0 || s.Born {
		return
	}
	if o := t.older[s.Cookie]; o != nil {
		s.adopt(o)
		// Its bind was not seen; a port that the kernel does not choose was asked for.
		s.bound = s.bound || s.Protocol == "udp" && s.Lport != 0 && t.chosenHi > 0 && (s.Lport < t.chosenLo || s.Lport > t.chosenHi)
		s.Passive = s.Passive || !s.Active && t.listening[portOf{o.Netns, o.Lport}]
	}
}

// learn fills in what a row says about the identity of its socket.
func (t *Sockets) learn(s *Socket, r *scan.Row, kind rowKind) {
	c := &t.col
	if s.Netns == 0 {
		s.Netns = r.Int(c.netns)
	}
	// socket(2) has the caller's wish, most often 0 for the default of its family.
	if s.Protocol == "" && kind != madeRow {
		s.Protocol = t.names.Get(r.Str(c.protocol))
	}
	if !t.copied(r, kind) {
		t.tuple(s, r, kind)
	}
	s.Passive = s.Passive || kind == acceptRow
	s.bound = s.bound || kind == bindRow && r.Int(c.bindPort) != 0
	// The rows that owner judges come from tasks also where the kernel hides the context.
	if ctx := r.Str(c.ctx); ctx == "task" || ctx == "unknown" {
		t.owner(s, r, kind)
	}
	if kind == stateRow {
		to := r.Str(c.newState)
		if s.Began == 0 {
			s.Began = r.TS
		}
		s.State = t.names.Get(to)
		s.Active = s.Active || to == "SYN_SENT"
		s.Passive = s.Passive || to == "LISTEN" || r.Str(c.oldState) == "LISTEN"
		if to == "CLOSE" {
			t.close(s, r.TS)
		}
	}
	if kind == goneRow {
		s.gone = true
		t.close(s, r.TS)
	}
	s.full = s.Sure() && !unspecified(s.Laddr) && s.owner >= ownerIO && s.Netns != 0 && s.Protocol != ""
}

// tuple takes the ends that were not known yet. Rows early in a life have port 0, or what
// only may become an end: the port of the connection before, and where a connect was to go.
func (t *Sockets) tuple(s *Socket, r *scan.Row, kind rowKind) {
	c := &t.col
	early := kind == stateRow && r.Str(c.newState) == "SYN_SENT"
	if p := r.Int(c.lport); r.Has(c.laddr) && (p != 0 && (s.Lport == 0 || s.maybeL) || unspecified(s.Laddr) && p >= s.Lport) {
		s.Laddr, s.Lport, s.maybeL = t.names.Get(r.Str(c.laddr)), p, early
	}
	// A listener's row may have the ends of a connection that it refused.
	if s.State == "LISTEN" || r.Str(c.state) == "LISTEN" {
		return
	}
	if p := r.Int(c.rport); r.Has(c.raddr) && (p != 0 && (s.Rport == 0 || s.maybeR) || unspecified(s.Raddr) && p >= s.Rport) {
		s.Raddr, s.Rport, s.maybeR = t.names.Get(r.Str(c.raddr)), p, false
	}
	if s.Rport == 0 && kind == connectRow {
		if p := r.Int(c.destPort); p != 0 {
			s.Raddr, s.Rport, s.maybeR = t.names.Get(r.Str(c.dest)), p, true
		}
	}
}

// owner takes the process of a row in task context, as sure as the row makes it.
func (t *Sockets) owner(s *Socket, r *scan.Row, kind rowKind) {
	rank := ownerNone
	switch kind {
	case connectRow, acceptRow:
		rank = ownerOpen
	case ioRow:
		rank = ownerIO
	case closeRow:
		rank = ownerClose
	case madeRow:
		rank = ownerMade
	case stateRow:
		switch r.Str(t.col.newState) {
		case "SYN_SENT", "LISTEN":
			rank = ownerOpen
		case "FIN_WAIT1", "LAST_ACK":
			rank = ownerClose
		}
	}
	if rank > s.owner {
		s.own(rank, r.Int(t.col.pid), t.names.Get(r.Str(t.col.comm)), t.names.Get(r.Str(t.col.cgroup)))
	}
}

// copied reports a row whose socket is still a copy of its listener: the kernel tells of
// the child before it gives it ends and a cookie of its own.
func (t *Sockets) copied(r *scan.Row, kind rowKind) bool {
	return kind == stateRow && r.Str(t.col.oldState) == "LISTEN" && r.Str(t.col.newState) == "SYN_RECV"
}

// unspecified reports addresses that say nothing.
func unspecified(addr string) bool { return addr == "" || addr == "0.0.0.0" || addr == "::" }
