package analyze

import (
	"cmp"
	"maps"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// talks follows UDP sockets: connected ones by socket, others by socket and peer.
type talks struct {
	in      *engine.Input
	idle    int64
	ended   func(*agg.Socket, *talk, int64, string)
	socks   agg.PerSocket[talk]
	flows   map[line.Destination]*talk
	peers   onlyPeers
	names   agg.Intern
	refused int64
	joined  int64 // reads that did not ask for the sender, of sockets that know one peer only

	bytes *engine.Bytes
	gaps  *agg.Gaps // of datagrams

	Ret, AskedBytes, Pid, Lport, Rport, DestPort, PeerPort scan.Int
	Dir, Comm, Protocol, Laddr, Raddr, DestAddr, PeerAddr  scan.Str
}

func newTalks(in *engine.Input, idle int64, ended func(*agg.Socket, *talk, int64, string)) *talks {
	f := &talks{in: in, idle: idle, ended: ended, flows: map[line.Destination]*talk{}, peers: onlyPeers{}, bytes: in.Bytes()}
	in.Bind(f)
	f.gaps = in.Gaps("udp_msg")
	in.On("udp_connect", f.connect)
	in.Use("udp_msg", "there are no bytes and no flows of unconnected sockets", f.msg)
	in.On("udp_gone", f.gone)
	in.OnEnd(f.over)
	return f
}

func (f *talks) connect(r *engine.Row) {
	if r.Sock == nil || r.Str(f.Protocol) != "udp" || r.Int(f.Ret) != 0 {
		return
	}
	k := f.socks.Of(r.Sock)
	before := *k
	if before.connected {
		f.ended(r.Sock, &before, r.TS, "reconnected")
	}
	*k = f.begin(r, r.Str(f.Raddr), r.Int(f.Rport))
	k.connected, k.again = true, before.began != 0
	k.asked, k.read = before.asked, before.read // bytes before the connect count, in the original
}

func (f *talks) begin(r *engine.Row, raddr string, rport int64) talk {
	return talk{who: shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, began: r.TS, last: r.TS, rport: rport, raddr: f.names.Get(raddr),
		laddr: f.names.Get(r.Str(f.Laddr)), lport: r.Int(f.Lport)}
}

// of is the talk that a datagram belongs to, nil if there is no room for it.
func (f *talks) of(r *engine.Row, send bool) *talk {
	addr, port := r.Str(f.PeerAddr), r.Int(f.PeerPort)
	if send {
		addr, port = r.Str(f.DestAddr), r.Int(f.DestPort)
	}
	if k := f.socks.Of(r.Sock); r.Int(f.Rport) != 0 && (port == 0 || port == r.Int(f.Rport) && addr == r.Str(f.Raddr)) {
		if k.connected && (k.rport != r.Int(f.Rport) || k.raddr != r.Str(f.Raddr)) {
			f.ended(r.Sock, k, k.last, line.UnseenEnd) // the connect that ended it was lost
			*k = talk{}
		}
		if !k.connected {
			*k = f.begin(r, r.Str(f.Raddr), r.Int(f.Rport))
			if k.connected, k.older = true, true; r.Sock.Older {
				k.began = f.in.Start()
			}
		}
		return k
	}
	if port == 0 && !send && r.Int(f.Ret) < 0 {
		return nil // nothing came, from nobody
	}
	d := line.Destination{Serial: r.Sock.Serial, Addr: f.names.Get(addr), Port: port}
	k := f.flows[d]
	if k != nil && r.TS-k.last > f.idle {
		f.ended(&k.sock, k, k.last, "idle")
		delete(f.flows, d)
		k = nil
	}
	if k == nil {
		if len(f.flows) >= agg.MaxFlows {
			f.refused++
			return nil
		}
		b := f.begin(r, addr, port)
		k = &b
		f.flows[d] = k
		f.peers.met(d)
	}
	k.sock = *r.Sock
	return k
}

func (f *talks) msg(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	send, n := r.Str(f.Dir) == "send", r.Int(f.Ret)
	k := f.of(r, send)
	if k == nil {
		return
	}
	switch k.last = r.TS; {
	case send:
		if k.asked += max(r.Int(f.AskedBytes), 0); n < 0 {
			k.failed++
			return
		}
		if k.tx += n; k.sent == 0 && !f.gaps.Of(r.Sock, k.began, r.TS) {
			k.sent = r.TS
		}
	case n >= 0:
		if k.read += n; f.bytes.Peeked(r) {
			return
		}
		if k.rx += n; k.received == 0 && !f.gaps.Of(r.Sock, k.began, r.TS) {
			k.received = r.TS
		}
	}
}

func (f *talks) gone(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	if k := f.socks.Of(r.Sock); k.connected {
		f.ended(r.Sock, k, r.TS, "closed")
		*k = talk{}
	}
}

// over takes sockets that the recording does not show the end of.
func (f *talks) over(s *agg.Socket) {
	if k := f.socks.Of(s); k.connected && s.Open {
		f.ended(s, k, f.in.End(), "open")
	} else if k.connected {
		f.ended(s, k, k.last, line.UnseenEnd)
	}
}

// onlyPeers knows of sockets that are not connected, by their serial, whether all that is
// known of their datagrams is about one peer. A read that does not ask who sent leaves a
// datagram without a peer.
type onlyPeers map[int64]line.Destination

// severalPeers is the port of sockets that have more than one.
const severalPeers = -1

// met notes a peer.
func (p onlyPeers) met(d line.Destination) {
	if d.Port == 0 {
		return
	}
	if one, ok := p[d.Serial]; ok && one != d {
		d.Port = severalPeers
	}
	p[d.Serial] = d
}

// join adds what came without a sender to the only peer of the socket, and says how many
// flows had one.
func (p onlyPeers) join(flows map[line.Destination]*talk) int64 {
	n := int64(0)
	for _, d := range slices.SortedFunc(maps.Keys(flows), line.Destination.Compare) {
		k := flows[d]
		peer, known := p[d.Serial]
		if d.Port != 0 || !known {
			continue
		}
		if one := flows[peer]; one != nil {
			one.rx, one.read = one.rx+k.rx, one.read+k.read
			one.last, one.began = max(one.last, k.last), min(one.began, k.began)
			if k.received != 0 && (one.received == 0 || k.received < one.received) {
				one.received = k.received
			}
			one.who = cmp.Or(one.who, k.who)
			delete(flows, d)
			n++
		}
	}
	return n
}

// finish ends the flows, by their beginning.
func (f *talks) finish() {
	f.joined = f.peers.join(f.flows)
	for _, k := range slices.SortedFunc(maps.Values(f.flows), func(a, b *talk) int {
		return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.raddr, b.raddr), cmp.Compare(a.rport, b.rport), cmp.Compare(a.sock.Serial, b.sock.Serial))
	}) {
		why := "last seen"
		if k.rport == 0 {
			why = "sender not asked for"
		}
		f.ended(&k.sock, k, k.last, why)
	}
}
