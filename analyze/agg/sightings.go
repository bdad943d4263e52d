package agg

// Spot is where a row saw a packet.
type Spot uint8

// Spots, in the order in which a packet comes to them.
const (
	nowhere  Spot = iota
	Made          // allocated or cloned
	Queued        // given to a device for sending
	Entered       // given to a queueing discipline
	Left          // taken from it, or back from a driver that was busy
	Started       // handed to the driver
	Taken         // by the driver, which has returned
	Arrived       // delivered by a driver, before GRO
	Received      // taken from a device by the stack
	Ended
)

// Link is what kind of device a packet was seen at, as far as it decides where the packet
// can be seen next.
type Link uint8

// Links.
const (
	AnyLink  Link = iota // may pass packets on in any way: tunnels, bridges, what is not known
	Loop                 // what is sent there is received there
	Pair                 // what is sent there is received at the other end, never here
	Hardware             // what is sent there is freed
)

// Sight is what a row says of the packet at an address.
type Sight struct {
	Spot  Spot
	Link  Link
	Task  bool   // by a task, not by an interrupt on top of one
	Netns int64  // of the device
	Dev   string // "" for none
	Sock  uint64 // 0 for none
	Len   int64  // 0 if unknown
}

// header is the most bytes that a packet loses between a driver of this host and the
// receiver behind it: the Ethernet header with a VLAN tag.
const header = 18

// Sightings tells apart the packets that have the same address one after the other, where
// ends and births may be missing: a filter leaves out what happens in other namespaces, the
// kernel frees without an event, rows are lost.
type Sightings struct {
	last map[uint64]Sight
}

// Another notes a sight, and reports whether it cannot be of the packet that was seen
// before at the address: then that one has ended in between.
func (s *Sightings) Another(addr uint64, now Sight) bool {
	was, known := s.last[addr]
	if now.Spot == Taken {
		// The receiver may have seen the packet before the driver returns.
		if was.Spot == Started && was.at(now) {
			was.Spot = Taken
			s.last[addr] = was
		}
		return false
	}
	if s.last == nil {
		s.last = map[uint64]Sight{}
	}
	if known || len(s.last) < maxSpans {
		s.last[addr] = now
	}
	return known && was.excludes(now)
}

// Busy notes that the driver gave a packet back.
func (s *Sightings) Busy(addr uint64) {
	if was, known := s.last[addr]; known && was.Spot == Started {
		was.Spot = Left
		s.last[addr] = was
	}
}

// Forget gives up all packets: rows were lost, and any of them may have ended.
func (s *Sightings) Forget() { clear(s.last) }

// at reports whether both sights are at the same device.
func (s Sight) at(o Sight) bool { return s.Dev == o.Dev && s.Netns == o.Netns }

// excludes reports whether a packet that was last seen so cannot be seen like that next.
func (s Sight) excludes(next Sight) bool {
	if s.Sock != 0 && next.Sock != 0 && s.Sock != next.Sock && s.Spot != Ended {
		return true
	}
	switch next.Spot {
	case Made:
		return true
	case Queued, Entered, Left, Started:
		return s.notSent(next)
	case Arrived, Received:
		return s.notReceived(next)
	case Ended:
		return s.Spot == Taken && s.Link == Pair
	}
	return false
}

// notSent is excludes for a packet on its way out.
func (s Sight) notSent(next Sight) bool {
	switch s.Spot {
	case Queued, Entered, Left:
		if next.Spot == Queued {
			return s.at(next)
		}
		return next.Spot != Started && s.at(next) && s.Len != next.Len
	case Started:
		return s.at(next)
	case Taken:
		return s.at(next) || s.Link != AnyLink
	case Arrived, Received:
		return s.Link == Loop || s.at(next) && next.Sock != 0
	case Ended:
		return true
	}
	return false
}

// notReceived is excludes for a packet on its way in.
func (s Sight) notReceived(next Sight) bool {
	switch s.Spot {
	case Made:
		return s.Task && (next.Link == Loop || next.Link == Pair)
	case Queued, Entered, Left:
		return s.at(next)
	case Started, Taken:
		switch s.Link {
		case Loop:
			return !s.at(next) || !s.fits(next)
		case Pair:
			return s.at(next) || !s.fits(next)
		}
		return s.at(next) || s.Link == Hardware
	case Arrived, Received:
		return s.at(next) && !(s.Spot == Arrived && next.Spot == Received)
	case Ended:
		return true
	}
	return false
}

// fits compares lengths at a driver and behind it.
func (s Sight) fits(next Sight) bool {
	return s.Len == 0 || next.Len == 0 || next.Len <= s.Len && next.Len >= s.Len-header
}
