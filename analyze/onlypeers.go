package analyze

import (
	"cmp"
	"maps"
	"slices"

	"netrec/analyze/line"
)

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
