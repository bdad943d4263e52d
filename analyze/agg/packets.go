package agg

// Derivation is a way in which sk_buffs come of each other, a bit of Packet.How.
type Derivation uint8

// Ways. Cloned, Copied and Cut make new sk_buffs of the same packet; with Merged the
// packet ends, because its data belongs to another from there on.
const (
	Cloned Derivation = 1 << iota
	Copied
	Cut
	MergedGRO
	MergedTCP
)

// Packet is what was handed through the stack as one: an sk_buff and all that was
// cloned, copied or cut from it.
type Packet struct {
	First uint64 // address of its first sk_buff
	Birth int64  // ts_ns of that
	Skbs  int64  // sk_buffs it consisted of so far
	How   Derivation
	Drop  bool // one of them was dropped

	alive  int32
	broken bool // the end of one of its sk_buffs was not seen
	next   int32
}

// Skb is one sk_buff of a packet.
type Skb struct {
	Birth int64 // ts_ns
	Stage uint8 // free for use by the analysis
	Since int64 // free for use by the analysis

	packet int32 // position in Packets.all; -1 once its packet has gone on elsewhere
}

// Packets follows sk_buffs by their address, from birth to end, and knows which belong
// to the same packet. It holds what is alive.
type Packets struct {
	skbs map[uint64]*Skb
	all  []Packet
	free int32 // first unused packet, -1 for none
	pool []*Skb

	Reborn  int64 // sk_buffs born at the address of one whose end was not seen
	Unborn  int64 // ends of sk_buffs whose birth was not seen
	Refused int64 // births for which there was no room
}

// Born notes the birth of an sk_buff that is a packet of its own.
func (p *Packets) Born(addr uint64, ts int64) *Skb {
	p.replace(addr)
	at := p.newPacket(addr, ts)
	if at < 0 {
		p.Refused++
		return nil
	}
	return p.add(addr, ts, at)
}

// Derived notes that child was made of parent. An sk_buff whose birth was seen already,
// as that of a copy, moves over.
func (p *Packets) Derived(parent, child uint64, ts int64, how Derivation) {
	from := p.skbs[parent]
	if from == nil || from.packet < 0 || parent == child {
		// The packet is older than the recording, so is all that becomes of it.
		if how == Cloned && p.skbs[child] == nil {
			p.Born(child, ts)
		}
		return
	}
	to := p.skbs[child]
	if to != nil && how == Cloned {
		p.replace(child)
		to = nil
	}
	if to == nil {
		to = p.add(child, ts, from.packet)
	} else if to.packet != from.packet {
		p.leave(to)
		to.packet = from.packet
		p.all[to.packet].alive++
		p.all[to.packet].Skbs++
	}
	p.all[to.packet].How |= how
}

// Merged notes that the data of child went into parent: its packet ends if this was
// the last sk_buff of it. The packet is nil unless it did.
func (p *Packets) Merged(child uint64, how Derivation) *Packet {
	s := p.skbs[child]
	if s == nil || s.packet < 0 {
		return nil
	}
	p.all[s.packet].How |= how
	at := s.packet
	s.packet = -1
	return p.lost(at)
}

// Ended notes the end of an sk_buff. It gives the sk_buff, nil if its birth was not
// seen, and its packet if that ended with it. Both are valid until the next call.
func (p *Packets) Ended(addr uint64, dropped bool) (*Skb, *Packet) {
	s := p.skbs[addr]
	if s == nil {
		p.Unborn++
		return nil, nil
	}
	delete(p.skbs, addr)
	p.pool = append(p.pool, s)
	if s.packet < 0 {
		return s, nil
	}
	k := &p.all[s.packet]
	k.Drop = k.Drop || dropped
	return s, p.lost(s.packet)
}

// Dropped notes that an sk_buff is being thrown away, before Ended tells of its end.
func (p *Packets) Dropped(addr uint64) {
	if s := p.skbs[addr]; s != nil && s.packet >= 0 {
		p.all[s.packet].Drop = true
	}
}

// Lost forgets an sk_buff whose end is not known for certain.
func (p *Packets) Lost(addr uint64) { p.replace(addr) }

// At is the sk_buff at an address, nil if its birth was not seen.
func (p *Packets) At(addr uint64) *Skb { return p.skbs[addr] }

// Alive is how many sk_buffs have no end yet.
func (p *Packets) Alive() int { return len(p.skbs) }

// replace ends an sk_buff whose address is used again, unseen.
func (p *Packets) replace(addr uint64) {
	s := p.skbs[addr]
	if s == nil {
		return
	}
	p.Reborn++
	delete(p.skbs, addr)
	p.pool = append(p.pool, s)
	p.leave(s)
}

// leave takes an sk_buff out of its packet, whose end is no longer known.
func (p *Packets) leave(s *Skb) {
	if s.packet >= 0 {
		p.all[s.packet].broken = true
		p.lost(s.packet)
	}
}

// lost takes an sk_buff from a packet, and gives the packet if it was the last one of it
// and all ends are known.
func (p *Packets) lost(at int32) *Packet {
	k := &p.all[at]
	if k.alive--; k.alive > 0 {
		return nil
	}
	k.next, p.free = p.free, at
	if k.broken {
		return nil
	}
	return k
}

func (p *Packets) newPacket(addr uint64, ts int64) int32 {
	if p.skbs == nil {
		p.skbs, p.free = map[uint64]*Skb{}, -1
	}
	at := p.free
	switch {
	case at >= 0:
		p.free = p.all[at].next
	case len(p.all) >= maxSpans:
		return -1
	default:
		at = int32(len(p.all))
		p.all = append(p.all, Packet{})
	}
	p.all[at] = Packet{First: addr, Birth: ts}
	return at
}

func (p *Packets) add(addr uint64, ts int64, packet int32) *Skb {
	var s *Skb
	if n := len(p.pool); n > 0 {
		s, p.pool = p.pool[n-1], p.pool[:n-1]
	} else {
		s = new(Skb)
	}
	*s = Skb{Birth: ts, Since: ts, packet: packet}
	p.skbs[addr] = s
	p.all[packet].alive++
	p.all[packet].Skbs++
	return s
}
