package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "nettxlat",
	Aliases:  []string{"nettxlat-dev --by dev"},
	Group:    groupSlow,
	Question: "how long from handing a packet to the driver until it is freed after transmission?",
	Main:     []string{"us"},
	Help: `@us is the time from the driver's start of a transmission until the packet is released.
That is not the time on the wire: drivers release packets in batches, on an interrupt or
at the next transmission.

A packet to a receiver on this host (loopback, veth, bridge) is not released by a driver;
@local_us is its time to the receiving side. If the receiver is in a network namespace
that was not recorded, the packet has no end and is not counted. @dropped_us is the time
until packets were dropped after they entered the driver. The device is the one at the
start. --compat does what the original scripts do: it counts a packet to a local receiver
until its end there, ignores drops, and keeps a start until the address is queued again.
The scripts also take the device from the end.`,
	Example: "nettxlat --by dev",
	Options: []engine.Option{
		engine.By("", append([]string{"dev", "queue", "cpu"}, engine.SocketKeys...)...),
		engine.Compat("until the packet ends, wherever it went; ignore drops"),
	},
	New: newNettxlat,
})

// transmission is a packet at its driver.
type transmission struct {
	ts  int64
	key engine.Key
}

type nettxlat struct {
	us, local, dropped *shape.Map[engine.Key, agg.Log2]
	keys               *engine.Keys
	right, original    agg.Pending[uint64, transmission]
	compat             bool

	ends, origEnds, same, arrived, drops, lost int64
	whole                                      bool // every end is in the recording

	Skb scan.Int
}

func newNettxlat(in *engine.Input) engine.Fold {
	f := &nettxlat{keys: in.Keys(nil), compat: in.Flag("compat")}
	in.Bind(f)
	f.dropped = shape.Hist(in, "dropped_us", "us", f.keys.Fields...)
	f.local = shape.Hist(in, "local_us", "us", f.keys.Fields...)
	f.us = shape.Hist(in, "us", "us", f.keys.Fields...)
	packets.Follow(in, func(skb uint64) { f.unseen(skb) }, f.unseenAll)
	// Drops are recorded whether or not their packet was drawn. This one may have ended unseen.
	f.whole = in.Meta.Share("dev_start_xmit") == nil || in.Recorded("skb_free")
	in.On("dev_start_xmit", f.start)
	in.On("skb_consume", f.consume)
	in.Use("dev_queue", "a packet sent again keeps its first start", f.queued)
	in.Use("skb_drop", "packets that a driver dropped leave their start behind", f.drop)
	in.Use("dev_recv", "packets that go on to a receiver on this host count until their end there", f.receive)
	in.Use("dev_gro_in", "", f.receive)
	in.Use("skb_free", "", func(r *engine.Row) { f.right.End(r.Uint(f.Skb)) })
	if f.compat {
		return shape.Also(f.us, f)
	}
	return shape.Also(f.dropped, f.local, f.us, f)
}

func (f *nettxlat) start(r *engine.Row) {
	t := transmission{r.TS, f.keys.Of(r)}
	f.right.Begin(r.Uint(f.Skb), t)
	f.original.Begin(r.Uint(f.Skb), t)
}

// queued is another way through a device: a tunnel's packet enters the next one.
func (f *nettxlat) queued(r *engine.Row) {
	f.right.End(r.Uint(f.Skb))
	f.original.End(r.Uint(f.Skb))
}

// unseen is the end of a packet that no row tells of, as in a namespace that was not recorded.
func (f *nettxlat) unseen(skb uint64) {
	if _, ok := f.right.End(skb); ok {
		f.lost++
	}
}

func (f *nettxlat) unseenAll() {
	f.lost += int64(f.right.Len())
	f.right.Clear()
	f.original.Clear()
}

func (f *nettxlat) consume(r *engine.Row) {
	t, ok := f.right.End(r.Uint(f.Skb))
	o, had := f.original.End(r.Uint(f.Skb))
	if had {
		f.origEnds++
		if f.compat {
			f.us.Add(o.key, (r.TS-o.ts)/1000)
		}
	}
	if !ok {
		return
	}
	f.ends++
	if had && o.ts == t.ts {
		f.same++
	}
	if !f.compat {
		f.us.Add(t.key, (r.TS-t.ts)/1000)
	}
}

func (f *nettxlat) drop(r *engine.Row) {
	if t, ok := f.right.End(r.Uint(f.Skb)); ok && f.whole {
		f.drops++
		f.dropped.Add(t.key, (r.TS-t.ts)/1000)
	}
}

// receive is the arrival of the packet.
func (f *nettxlat) receive(r *engine.Row) {
	if t, ok := f.right.End(r.Uint(f.Skb)); ok {
		f.arrived++
		f.local.Add(t.key, (r.TS-t.ts)/1000)
	}
}

// Finish says where packets went and tells the rules apart.
func (f *nettxlat) Finish(a *render.Answer) {
	if f.drops+f.arrived > 0 {
		a.Note(fmt.Sprintf("%s, %s arrived at a receiver on this host, %s dropped after the driver started",
			engine.Plural(f.ends, "packet released", "packets released"), engine.Thousands(f.arrived), engine.Thousands(f.drops)))
	}
	if f.lost > 0 {
		a.Note(engine.Plural(f.lost, "packet", "packets") + " not counted: no end was recorded")
	}
	if f.same != f.ends || f.same != f.origEnds {
		a.Note(fmt.Sprintf("the original (--compat) gives %s, %s of them the same", engine.Plural(f.origEnds, "sample", "samples"), engine.Thousands(f.same)))
	}
}
