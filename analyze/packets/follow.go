package packets

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
	"netrec/schema"
)

// follower tells an analysis that goes by addresses of sk_buffs when the one at an address
// must have ended unseen, before the analysis gets the row that shows it.
type follower struct {
	sights agg.Sightings
	links  map[Device]agg.Link
	peers  bool // packets are seen where they arrive
	names  agg.Intern
	over   func(skb uint64)

	Skb, Netns, Sock, LenBytes, Rc, Ok scan.Int
	Dev, Ctx, DeriveKind               scan.Str
}

// Device is a network device of a namespace.
type Device struct {
	Netns int64
	Name  string
}

// sights are the events that see packets, and where. Copies and segments are allocated too.
var sights = []struct {
	event string
	spot  agg.Spot
}{{"skb_alloc", agg.Made}, {"skb_derive", agg.Made}, {"dev_queue", agg.Queued}, {"qdisc_enq", agg.Entered}, {"qdisc_deq", agg.Left},
	{"dev_start_xmit", agg.Started}, {"dev_gro_in", agg.Arrived}, {"dev_recv", agg.Received},
	{"skb_consume", agg.Ended}, {"skb_drop", agg.Ended}, {"skb_free", agg.Ended}}

// Follow calls over for a packet that has ended unseen, and all where rows of packets were
// lost, so that any of them may have.
func Follow(in *engine.Input, over func(skb uint64), all func()) {
	f := &follower{over: over, links: linksOf(in.Meta.Interfaces), peers: in.Recorded("dev_recv")}
	in.Bind(f)
	for _, s := range sights {
		in.Before(s.event, func(r *engine.Row) { f.see(r, s.spot) })
	}
	in.Before("dev_xmit", f.returned)
	OnLost(in, func() {
		f.sights.Forget()
		all()
	})
}

// OnLost calls f where rows that see packets were lost.
func OnLost(in *engine.Input, f func()) {
	events := []string{"skb_derive"}
	for _, s := range sights {
		events = append(events, s.event)
	}
	in.OnLoss(events, f)
}

// linksOf is what kind of device each of the list is.
func linksOf(list []schema.Interface) map[Device]agg.Link {
	links := map[Device]agg.Link{}
	for _, i := range list {
		link := agg.AnyLink
		switch i.Type {
		case "veth", "netkit", "vxcan":
			link = agg.Pair
		case "device": // of no kind that the kernel makes itself
			link = agg.Hardware
		}
		links[Device{int64(i.Netns), i.Name}] = link
	}
	return links
}

// link is the kind of a device. One that the list of the start lacks came later: most
// often that is a container's.
func (f *follower) link(netns int64, dev string) agg.Link {
	if dev == "lo" {
		return agg.Loop
	}
	link, known := f.links[Device{netns, dev}]
	if !known && len(f.links) > 0 {
		link = agg.Pair
	}
	if link == agg.Pair && !f.peers {
		return agg.AnyLink
	}
	return link
}

func (f *follower) see(r *engine.Row, spot agg.Spot) {
	s := agg.Sight{Spot: spot, Netns: r.Int(f.Netns), Len: r.Int(f.LenBytes)}
	switch spot {
	case agg.Made:
		if r.Event.Name == "skb_derive" && (r.Int(f.Ok) == 0 || r.Str(f.DeriveKind) != "clone") {
			return
		}
		s.Task = r.Str(f.Ctx) == "task"
	case agg.Ended:
		if f.peers { // else it may be the receiver's socket
			s.Sock = r.Uint(f.Sock)
		}
	default:
		s.Dev, s.Sock = f.names.Get(r.Str(f.Dev)), r.Uint(f.Sock)
		s.Link = f.link(s.Netns, s.Dev)
	}
	if addr := r.Uint(f.Skb); f.sights.Another(addr, s) {
		f.over(addr)
	}
}

func (f *follower) returned(r *engine.Row) {
	if r.Int(f.Rc) == Busy {
		f.sights.Busy(r.Uint(f.Skb))
		return
	}
	f.sights.Another(r.Uint(f.Skb), agg.Sight{Spot: agg.Taken, Netns: r.Int(f.Netns), Dev: r.Str(f.Dev)})
}
