package agg

import "netrec/schema"

// Socket is one life of a socket: (netns, address, generation).
type Socket struct {
	Addr     uint64
	Netns    int64
	Gen      int   // 1 for the first life seen at this address
	Serial   int64 // unique in the recording, in the order of appearance
	Cookie   int64 // 0 if unknown
	Protocol string
	Laddr    string
	Raddr    string
	Lport    int64
	Rport    int64
	Pid      int64 // owner; 0 if unknown
	Comm     string
	Cgroup   string // of that process, "" where it is not recorded
	State    string // newest TCP state seen; "" if none
	First    int64  // ts_ns of the first and newest row
	Last     int64
	Began    int64 // ts_ns of the first change of state, 0 if none was seen
	Closed   int64 // ts_ns of the change to CLOSE or of the end of its memory, 0 while open
	Born     bool  // its beginning was seen
	Older    bool  // it was alive when the recording began
	Open     bool  // it was alive when the recording ended; set for OnEnd
	Active   bool  // this host sent the SYN
	Passive  bool  // it listens, or came from a listener
	Strange  bool  // losses leave open whose row this is: nothing else is known

	slot  int
	over  bool // set for OnEnd
	owner ownerRank
	full  bool // identity is complete, nothing to backfill
	made  bool // begun by socket(2): the first change of state is not another life's
	gone  bool // its memory was freed
	bound bool // to a port that was asked for

	shown int64 // ts_ns of the newest row that shows it to be open, where rows were lost
	sure  int64 // ts_ns until which it is known to have lasted
	until int64 // the same, from rows that are still to come; 0 if they do not tell

	maybeL, maybeR    bool // the end is what a row says that cannot be sure of it
	elsewhere         bool // the namespace is that of a device, which may be another
	child             bool // its birth from a listener was seen
	accepted, dialled bool // a call that took or connected it was seen
	taken             bool // a process had a descriptor of it
	sent              bool // a task of a process sent its SYN
}

// UnseenAccept reports a connection that a process took from a listener by a call that was
// not seen: it was born here and a process closed it.
func (s *Socket) UnseenAccept() bool { return s.child && s.taken && !s.accepted }

// UnseenConnect reports a connection that a process began by a call that was not seen. A call
// that may still be under way at the end says nothing.
func (s *Socket) UnseenConnect() bool {
	return s.sent && !s.dialled && (s.Closed != 0 || s.State != "SYN_SENT")
}

// ownerRank is how sure the owner is.
type ownerRank uint8

const (
	ownerNone  ownerRank = iota
	ownerPort            // listens on its port, and a thread of the kernel closed it
	ownerClose           // closed it
	ownerMade            // made it, maybe for another
	ownerIO              // sent or received
	ownerOpen            // connected, accepted, listened, or had it open at the start
)

// Serves reports whether the local port names the service, not the remote one.
// So it is of sockets that listen or were accepted, and of those that are bound to a port
// and not connected.
func (s *Socket) Serves() bool {
	return s.Lport != 0 && !s.Active && (s.Passive || s.bound && s.Rport == 0)
}

// Tuple reports whether both ends are known.
func (s *Socket) Tuple() bool { return s.Lport != 0 && s.Rport != 0 }

// Sure reports whether both ends are known from rows that are sure of them.
func (s *Socket) Sure() bool { return s.Tuple() && !s.maybeL && !s.maybeR }

func (s *Socket) own(rank ownerRank, pid int64, comm, cgroup string) {
	if rank > s.owner && pid != 0 {
		s.owner, s.Pid, s.Comm, s.Cgroup = rank, pid, comm, cgroup
	}
}

// adopt takes the identity of a socket that was alive at the start.
func (s *Socket) adopt(o *schema.Socket) {
	s.Older = true
	s.Protocol = o.Protocol
	if s.State == "" {
		s.State = o.State
	}
	if s.Lport == 0 {
		s.Laddr, s.Lport = o.Laddr, int64(o.Lport)
	}
	if s.Rport == 0 {
		s.Raddr, s.Rport = o.Raddr, int64(o.Rport)
	}
	if len(o.Owners) > 0 {
		s.own(ownerOpen, int64(o.Owners[0].Pid), o.Owners[0].Comm, o.Owners[0].Cgroup)
	}
}

// PerSocket is a value for each living socket, without a map.
type PerSocket[T any] struct{ perLife[T] }

// Of is the value of the socket, zero when it is first asked for. A row of a file from
// elsewhere may lack the socket that all of its kind have: then it is zero each time.
func (p *PerSocket[T]) Of(s *Socket) *T {
	if s != nil {
		return p.at(s.slot, s.Serial, s.over)
	}
	return new(T)
}

// perLife is a value for each of the things that take a slot while they live.
type perLife[T any] struct {
	vs   []lifeValue[T]
	last lifeValue[T] // of one that nobody asked for before its end: it takes no slot
}

type lifeValue[T any] struct {
	serial int64 // plus one: 0 is nobody's
	v      T
}

func (p *perLife[T]) at(slot int, serial int64, over bool) *T {
	e := &p.last
	if slot < len(p.vs) || !over {
		for slot >= len(p.vs) {
			p.vs = append(p.vs, lifeValue[T]{})
		}
		e = &p.vs[slot]
	}
	if e.serial != serial+1 {
		*e = lifeValue[T]{serial: serial + 1}
	}
	return &e.v
}

// TCP leaves out what else changes state: MPTCP sockets above their TCP ones, SCTP. A
// file from elsewhere may have changes without a socket, which are none either.
func (s *Socket) TCP() bool { return s != nil && (s.Protocol == "tcp" || s.Protocol == "") }
