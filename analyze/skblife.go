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
	Name:     "skblife",
	Group:    groupSlow,
	Question: "how long do an sk_buff and its packet live: what delay do all layers of the stack add?",
	Main:     []string{"skb_residency_nsecs"},
	Help: `@skb_residency_nsecs is the time from the allocation of an sk_buff to its end.
@packet_nsecs is the lifetime of packets: from their first sk_buff until the last one that
was cloned, copied or cut from it ends, or until GRO or TCP merges it into another. A
packet lives longer than its sk_buffs if segmentation or retransmission clones it.

--became counts packets by how they ended. --stages splits the lives of sk_buffs: socket
and protocols until a device gets it, the device's queues, the driver, and the path from
the receiving device to the reader. --top lists the packets that lived longest; skb ADDR
follows a single one. --by groups lives by where they ended: on which CPU, for which
socket or process.

A life whose end was not recorded is not counted: the buffer was freed on a path without
an event, in a network namespace that was not recorded, or while rows were lost. netrec
notices when the next packet at the same address is allocated, reaches a device where the
first one cannot be, or belongs to another socket. --compat sees only what the slab
allocator does, like the original: it misses NAPI's recycled buffers, so one life can span
several packets, and counts an sk_buff and its preallocated clone as one.`,
	Example: "skblife --became --stages",
	Options: []engine.Option{
		{Name: "became", Kind: engine.Flag, Doc: "also packets by how they ended"},
		{Name: "stages", Kind: engine.Flag, Doc: "also the time in each part of the stack"},
		{Name: "top", Short: "n", Kind: engine.Number, Default: "0", Implied: "10", Doc: "also the packets that lived longest"},
		engine.By("", append([]string{"cpu", "ctx", "second"}, engine.SocketKeys...)...),
		engine.Compat("slab allocations only; recycled buffers live on"),
	},
	New: newSkblife,
})

type skblife struct {
	in            *engine.Input
	keys          *engine.Keys
	life, packets *shape.Map[engine.Key, agg.Log2]
	became        agg.Keyed[fate, agg.Stats]
	longest       *longest // nil without --top
	stages        *stages
	skbs          agg.Packets
	original      slabLives
	compat        bool
	shared        bool // drops are in the recording whether or not their packet was drawn
	whole         bool // skb_free tells of every end

	lives, rightNS, originals, originalsNS int64

	Skb, ParentSkb, Ok scan.Int
	DeriveKind, Func   scan.Str
}

func newSkblife(in *engine.Input) engine.Fold {
	f := &skblife{in: in, compat: in.Flag("compat"), whole: in.Meta.Rows["skb_free"] > 0}
	in.Bind(f)
	f.keys, f.shared = in.Keys(nil), in.Meta.Share("skb_alloc") != nil
	f.packets = shape.Hist(in, "packet_nsecs", "ns", f.keys.Fields...)
	f.life = shape.Hist(in, "skb_residency_nsecs", "ns", f.keys.Fields...)
	packets.Follow(in, f.skbs.Lost, f.lostAll)
	in.On("skb_alloc", f.born)
	in.On("skb_consume", f.consumed)
	in.Use("skb_drop", "buffers of dropped packets have no end", func(r *engine.Row) { f.end(r, true) })
	in.Use("skb_free", "buffers that others took over have no end", func(r *engine.Row) { f.end(r, false) })
	in.Use("skb_derive", "clones have no birth, and lives of packets are those of their buffers", f.derived)
	if in.Flag("stages") {
		f.stages = newStages(in, &f.skbs)
	}
	if n := in.Number("top"); n > 0 {
		f.longest = newLongest(in, n)
	}
	if f.compat {
		return shape.Also(f.life, f)
	}
	return shape.Also(f.packets, f.life, f)
}

// lostAll gives up all packets, by either rule: their ends may be lost.
func (f *skblife) lostAll() {
	f.skbs.LostAll()
	f.original = slabLives{}
}

func (f *skblife) born(r *engine.Row) {
	f.skbs.Born(r.Uint(f.Skb), r.TS)
	if r.Str(f.Func) != "__build_skb_around" {
		f.original.born(r.Uint(f.Skb), r.TS)
	}
}

// consumed is the end where nothing better tells of it.
func (f *skblife) consumed(r *engine.Row) {
	if !f.whole {
		f.end(r, false)
	}
}

func (f *skblife) end(r *engine.Row, dropped bool) {
	addr := r.Uint(f.Skb)
	if dropped && (f.whole || f.shared) {
		f.dropped(addr)
		return
	}
	// NAPI keeps this one, and the allocator hears nothing of it.
	if r.Str(f.Func) != "napi_skb_free_stolen_head" {
		if birth, ok := f.original.freed(addr); ok {
			f.originals++
			f.originalsNS += r.TS - birth
			if f.compat {
				f.life.Add(f.keys.Of(r), r.TS-birth)
			}
		}
	}
	s, p := f.skbs.Ended(addr, dropped)
	if s == nil {
		return
	}
	f.lives++
	f.rightNS += r.TS - s.Birth
	if f.stages != nil {
		f.stages.end(s, r.TS)
	}
	if !f.compat {
		f.life.Add(f.keys.Of(r), r.TS-s.Birth)
	}
	f.packet(r, p)
}

// Finish shows what packets became, the stages, and tells the rules apart.
func (f *skblife) Finish(a *render.Answer) {
	if f.in.Flag("became") {
		listFates(f.in, &f.became)
	}
	if f.stages != nil {
		f.stages.Finish(a)
	}
	if f.longest != nil {
		f.longest.Finish(a)
	}
	a.Note(fmt.Sprintf("not counted: %s whose end was not recorded, %s still alive, %s whose allocation was not recorded",
		engine.Thousands(f.skbs.Unended), engine.Thousands(int64(f.skbs.Alive())), engine.Thousands(f.skbs.Unborn)))
	if f.lives != f.originals || f.rightNS != f.originalsNS {
		a.Note(fmt.Sprintf("%s, %s ns in total; the original (--compat) gives %s, %s ns", engine.Plural(f.lives, "life", "lives"),
			engine.Thousands(f.rightNS), engine.Thousands(f.originals), engine.Thousands(f.originalsNS)))
	}
}
