package agg

import (
	"strings"

	"netrec/analyze/scan"
	"netrec/schema"
)

// deviceRows lists the events whose namespace is that of a device, by id. A packet keeps its
// sender's socket where it crosses into another namespace, by veth, until a receiver takes it.
func deviceRows() []bool {
	device := make([]bool, schema.MaxID)
	for _, name := range schema.Columns[schema.ColumnIndex("ifindex")].Events {
		device[schema.ByName(name).ID] = true
	}
	return device
}

// cookie takes the cookie, and with it what the list of sockets alive at the start says.
func (t *Sockets) cookie(s *Socket, r *scan.Row) {
	s.Cookie = r.Int(t.col.Cookie)
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
func (t *Sockets) learn(s *Socket, r *scan.Row, kind schema.Says) {
	c := &t.col
	if s.Netns == 0 {
		s.Netns = r.Int(c.Netns)
	}
	// socket(2) has the caller's wish, most often 0 for the default of its family.
	if s.Protocol == "" && kind != schema.SaysMade {
		s.Protocol = t.names.Get(r.Str(c.Protocol))
	}
	if !t.copied(r, kind) {
		t.tuple(s, r, kind)
	}
	s.Passive = s.Passive || kind == schema.SaysAccept
	s.bound = s.bound || kind == schema.SaysBind && r.Int(c.BindPort) != 0
	// The rows that owner judges come from tasks also where the kernel hides the context.
	if ctx := r.Str(c.Ctx); ctx == "task" || ctx == "unknown" {
		t.owner(s, r, kind)
	}
	if kind == schema.SaysState {
		to := r.Str(c.NewState)
		t.doors(s, r, to)
		if s.Began == 0 {
			s.Began = r.TS
			s.Born = s.Born && startsLife(r.Str(c.OldState), to) // else it was made, and its first state was lost
		}
		s.State = t.names.Get(to)
		s.Active = s.Active || to == "SYN_SENT"
		s.Passive = s.Passive || to == "LISTEN" || r.Str(c.OldState) == "LISTEN"
		if to == "CLOSE" {
			t.close(s, r.TS)
		}
	}
	if kind == schema.SaysGone {
		s.gone = true
		t.close(s, r.TS)
	}
	s.full = s.Sure() && !unspecified(s.Laddr) && s.owner >= ownerIO && s.Netns != 0 && s.Protocol != ""
}

// tuple takes the ends that were not known yet. Rows early in a life have port 0, or what
// only may become an end: the port of the connection before, and where a connect was to go.
func (t *Sockets) tuple(s *Socket, r *scan.Row, kind schema.Says) {
	c := &t.col
	early := kind == schema.SaysState && r.Str(c.NewState) == "SYN_SENT"
	if p := r.Int(c.Lport); r.HasStr(c.Laddr) && (p != 0 && (s.Lport == 0 || s.maybeL) || unspecified(s.Laddr) && p >= s.Lport) {
		s.Laddr, s.Lport, s.maybeL = t.names.Get(r.Str(c.Laddr)), p, early
	}
	// A listener's row may have the ends of a connection that it refused.
	if s.State == "LISTEN" || r.Str(c.State) == "LISTEN" {
		return
	}
	if p := r.Int(c.Rport); r.HasStr(c.Raddr) && (p != 0 && (s.Rport == 0 || s.maybeR) || unspecified(s.Raddr) && p >= s.Rport) {
		s.Raddr, s.Rport, s.maybeR = t.names.Get(r.Str(c.Raddr)), p, false
	}
	if s.Rport == 0 && (kind == schema.SaysConnect || kind == schema.SaysPeer) {
		if p := r.Int(c.DestPort); p != 0 {
			s.Raddr, s.Rport, s.maybeR = t.names.Get(r.Str(c.DestAddr)), p, true
		}
	}
}

// doors notes what changes of state prove of calls: that there was one, seen or not.
func (t *Sockets) doors(s *Socket, r *scan.Row, to string) {
	s.child = s.child || t.copied(r, schema.SaysState)
	if r.Str(t.col.Ctx) != "task" || kernelThread(r.Str(t.col.Comm)) {
		return
	}
	switch to {
	case "SYN_SENT":
		s.sent = true
	case "FIN_WAIT1", "LAST_ACK": // of a socket that nobody took the listener lets go otherwise
		s.taken = true
	}
}

// kernelThread reports threads of the kernel that handle sockets of processes.
func kernelThread(comm string) bool { return strings.HasPrefix(comm, "kworker/") }

// Process is the name of the process behind a task's: its own for threads of io_uring, where
// the socket at hand is the same process's.
func (s *Socket) Process(pid int64, comm string) string {
	if s != nil && s.Pid == pid && uringThread(comm) {
		return s.Comm
	}
	return comm
}

// uringThread reports threads of io_uring. They are threads of the process whose ring it is,
// under names of their own.
func uringThread(comm string) bool {
	return strings.HasPrefix(comm, "iou-sqp-") || strings.HasPrefix(comm, "iou-wrk-")
}

// maxComms bounds the processes whose names are kept.
const maxComms = 1 << 16

// named notes the name of a process.
func (t *Sockets) named(pid int64, comm string) {
	if uringThread(comm) || kernelThread(comm) || t.comms[pid] == comm {
		return
	}
	if len(t.comms) >= maxComms {
		clear(t.comms)
	}
	t.comms[pid] = t.names.Get(comm)
}

// owner takes the process of a row in task context, as sure as the row makes it.
func (t *Sockets) owner(s *Socket, r *scan.Row, kind schema.Says) {
	rank := ownerNone
	switch kind {
	case schema.SaysConnect, schema.SaysPeer, schema.SaysAccept:
		rank = ownerOpen
	case schema.SaysIO:
		rank = ownerIO
	case schema.SaysClose:
		rank = ownerClose
	case schema.SaysMade:
		rank = ownerMade
	case schema.SaysState:
		switch r.Str(t.col.NewState) {
		case "SYN_SENT", "LISTEN":
			rank = ownerOpen
		case "FIN_WAIT1", "LAST_ACK":
			rank = ownerClose
		}
	}
	if rank == ownerNone || rank < ownerOpen && t.openerLost(s, r.TS) {
		return
	}
	pid, comm, cgroup := r.Int(t.col.Pid), r.Str(t.col.Comm), r.Str(t.col.Cgroup)
	at := portOf{uint32(s.Netns), int(s.Lport)}
	switch t.named(pid, comm); {
	case kernelThread(comm):
		if l, ok := t.servers[at]; ok && !s.Active {
			s.own(ownerPort, l.pid, l.comm, l.cgroup)
			return
		}
	case uringThread(comm):
		if known := t.comms[pid]; known != "" {
			comm = known
		}
	case kind == schema.SaysState && rank == ownerOpen && r.Str(t.col.NewState) == "LISTEN":
		t.servers[at] = server{pid, t.names.Get(comm), t.names.Get(cgroup)}
	}
	if rank > s.owner {
		s.own(rank, pid, t.names.Get(comm), t.names.Get(cgroup))
	}
}

// copied reports a row whose socket is still a copy of its listener: the kernel tells of
// the child before it gives it ends and a cookie of its own.
func (t *Sockets) copied(r *scan.Row, kind schema.Says) bool {
	return kind == schema.SaysState && copiedChild(r.Str(t.col.OldState), r.Str(t.col.NewState))
}

// copiedChild reports the first change of a child, which begins as a copy of its listener: to
// SYN_RECV, or to ESTABLISHED (MPTCP). A listener itself only closes.
func copiedChild(from, to string) bool { return from == "LISTEN" && to != "LISTEN" && to != "CLOSE" }

// unspecified reports addresses that say nothing.
func unspecified(addr string) bool { return addr == "" || addr == "0.0.0.0" || addr == "::" }
