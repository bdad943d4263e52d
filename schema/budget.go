package schema

// Class is a set of hot events whose share changes together while a budget is kept.
type Class string

// The classes. Rare events belong to none: they are recorded whatever they cost.
const (
	ClassConns   Class = "connections" // events of sockets that are thinned ByConn
	ClassPackets Class = "packets"     // the events that --packets is about
)

// Classes lists them in the order in which they are shown.
var Classes = []Class{ClassConns, ClassPackets}

// Class is what an event is thinned with, "" for one that is always recorded.
func (e *Event) Class() Class {
	switch e.Thin {
	case "":
		return ""
	case ByConn:
		return ClassConns
	}
	return ClassPackets
}

// Scales reports whether the rows of an event stand for those that a budget left out. Of calls
// and waits some are always kept, and the rows do not say which.
func (e *Event) Scales() bool { return e.Thin == ByConn || e.Thin == ByPacket || e.Thin == ByTime }

// MaxHalved is how often a share is halved at most.
const MaxHalved = 10

// Budget is the part of the host's CPU time that a recording was to stay below, and what it left
// out for that. A change holds until the next of its class; before the first, all is recorded.
type Budget struct {
	Percent float64       `json:"percent"`
	Changes []ShareChange `json:"changes,omitempty"`
	End     []Seen        `json:"end,omitempty"`     // until the recording ended; absent if it was killed
	OverNS  int64         `json:"over_ns,omitempty"` // for so long it cost more, whatever the shares
}

// ShareChange is a moment at which a budget left more or less room. It is a row, too.
type ShareChange struct {
	Class   Class  `json:"class"`
	Of      uint32 `json:"of"` // one in so many is recorded, of what there is without a budget; a power of two
	SinceNS int64  `json:"since_ns"`
	Seen    []Seen `json:"seen,omitempty"` // until then, of connections
}

// Seen is how often an event happened since the recording began. Shares are of connections, some of
// which do far more than others: these numbers tell what the rows in between stand for.
type Seen struct {
	Event string `json:"event"`
	Kept  int64  `json:"kept"`
	Left  int64  `json:"left"` // left out for the budget
}

// Stretch is a time in which a share did not change.
type Stretch struct {
	Of       uint32
	From, To int64   // Unix ns, To not included
	Weight   float64 // how many rows one stands for; 0 where that is not known but by the share
}

// Thinned lists when less than all of an event was recorded, in a recording that ends at end.
func (b *Budget) Thinned(e *Event, end int64) []Stretch {
	if b == nil || e == nil {
		return nil
	}
	return b.stretches(e.Class(), e.Name, end)
}

func (b *Budget) stretches(c Class, event string, end int64) (all []Stretch) {
	var counts []Seen // of each; Event is "" where they are not known
	open, before := false, Seen{}
	over := func(ts int64, until []Seen) {
		if !open {
			return
		}
		all[len(all)-1].To = ts
		n, ok := seenOf(until, event)
		if n.Kept, n.Left = n.Kept-before.Kept, n.Left-before.Left; !ok || n.Kept < 0 || n.Left < 0 {
			n = Seen{}
		}
		counts = append(counts, n)
	}
	for _, ch := range b.Changes {
		if ch.Class != c {
			continue
		}
		over(ch.SinceNS, ch.Seen)
		before, _ = seenOf(ch.Seen, event)
		if open = ch.Of > 1; open {
			all = append(all, Stretch{Of: ch.Of, From: ch.SinceNS})
		}
	}
	over(end, b.End)
	weigh(all, counts)
	return all
}

// enough is how many rows tell what they stand for. Stretches with fewer are taken together with
// their neighbours: in some no connection that was kept did anything.
const enough = 64

// weigh finds out how many rows one stands for in each stretch.
func weigh(all []Stretch, counts []Seen) {
	for from, last := 0, 0; from < len(all); {
		to, kept, left := from, int64(0), int64(0)
		for ; to < len(all) && kept < enough; to++ {
			kept, left = kept+counts[to].Kept, left+counts[to].Left
		}
		if kept < enough { // the end: with those before
			from, kept, left = last, 0, 0
			for _, n := range counts[from:to] {
				kept, left = kept+n.Kept, left+n.Left
			}
		}
		for i := from; i < to && kept > 0; i++ {
			if counts[i].Event != "" {
				all[i].Weight = 1 + float64(left)/float64(kept)
			}
		}
		from, last = to, from
	}
}

func seenOf(list []Seen, event string) (Seen, bool) {
	for _, s := range list {
		if s.Event == event {
			return s, true
		}
	}
	return Seen{}, false
}

// Least is the smallest share of a class that was recorded, as one in so many.
func (b *Budget) Least(c Class) (of uint32) {
	of = 1
	if b == nil {
		return of
	}
	for _, ch := range b.Changes {
		if ch.Class == c {
			of = max(of, ch.Of)
		}
	}
	return of
}

// What a run of a probe costs that makes no row, ns, with what the kernel needs to call it: because
// a budget leaves out the connection, or for a packet that is not drawn. Measured where
// ProbesMeasured says, by TestBudget.
const (
	PassedConnNS   = 70
	PassedPacketNS = 35
)
