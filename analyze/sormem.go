package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sormem",
	Group:    groupFull,
	Question: "how full are socket receive buffers, compared with their limit, and did any overflow?",
	Main:     []string{"rmem_alloc"},
	Help: `First, one line for each packet that found no room in a receive queue, with the kernel's
drop reason (UDP datagrams are counted below instead), and one for each memory request
that was refused to a receiving socket. Then, in bytes, the memory that receive queues held
when a receive call was made, and the limit of the buffer. If segments were recorded,
@rmem_arrival shows what the queue held when a TCP segment arrived, including peaks between
two reads. First come the sockets with the fullest buffers: packets that found no room (OVERFL),
packets that the kernel says it dropped for that (DROPS, often the same ones; before 6.11
the kernel does not say whose) and why; and how the limits of TCP compare with tcp_rmem.
Kernels before 6.6 do not report IPv6 datagrams that found no room.

--fill shows how full the buffers were in percent instead of bytes: at reads, and as
@fill_peak_percent the maximum between two reads at which segments arrived. With --by
sock,second it shows this over time. A socket that is read often counts often. "allocated"
is the memory of all sockets of the protocol, in pages. --compat adds lines about sending
sockets, as the original does, and leaves out the list of sockets.`,
	Example: "sormem --fill --by comm",
	Options: []engine.Option{
		{Name: "fill", Kind: engine.Flag, Doc: "how full, in percent"},
		engine.Top("10", "how many of the fullest sockets"),
		engine.By("", append([]string{"second"}, engine.SocketKeys...)...),
		engine.Compat("add lines about sends, no list of sockets"),
	},
	New: newSormem,
})

type sormem struct {
	lines                 *overflows
	alloc, limit, arrival *shape.Map[engine.Key, agg.Log2]
	fill, fillPeak        *shape.Map[engine.Key, shape.LinearHist]
	keys                  *engine.Keys
	worst                 *fullest
	allowed               *rmemLimits
	compat                bool

	late, reads, sends, udp int64

	SkRmemAlloc, RmemEntryBytes, SkRcvbuf, RcvbufEntryBytes, TruesizeBytes scan.Int
	MemAllocatedPages                                                      scan.Int
	Dir, Protocol, Func                                                    scan.Str
}

func newSormem(in *engine.Input) engine.Fold {
	f := &sormem{compat: in.Flag("compat"), keys: in.Keys(nil), allowed: newRmemLimits(in)}
	in.Bind(f)
	in.Sockets("")
	f.lines = newOverflows(in, f.compat)
	f.alloc, f.limit = shape.Hist(in, "rmem_alloc", "bytes", f.keys.Fields...), shape.Hist(in, "rmem_limit", "bytes", f.keys.Fields...)
	f.arrival = shape.Hist(in, "rmem_arrival", "bytes", f.keys.Fields...)
	f.fill, f.fillPeak = shape.Percent(in, "fill_percent", f.keys.Fields...), shape.Percent(in, "fill_peak_percent", f.keys.Fields...)
	in.On("sock_io", f.io)
	in.Use("sock_rcvqueue_full", "packets without room are not told", f.full)
	in.Use("sock_exceed_buf_limit", "refused memory is not told", f.exceeded)
	if f.worst = newFullest(in, in.Number("top")); !f.compat {
		in.Use("tcp_rcv_est", "", f.segment)
		in.Use("skb_drop", "drops of full sockets are not counted", f.drop)
	}
	switch {
	case in.Flag("fill"):
		return shape.Also(f.lines, f.worst, f.fill, f.fillPeak, f)
	case f.compat:
		return shape.Also(f.lines, f.alloc, f.limit, f)
	}
	return shape.Also(f.lines, f.worst, f.alloc, f.arrival, f.limit, f)
}

func (f *sormem) io(r *engine.Row) {
	if r.Str(f.Dir) != "recv" || !r.Has(f.SkRmemAlloc) {
		return
	}
	f.reads++
	held, limit, key := r.Int(f.RmemEntryBytes), r.Int(f.SkRcvbuf), f.keys.Of(r)
	if r.Has(f.RcvbufEntryBytes) { // TCP may raise the limit during the call
		limit = r.Int(f.RcvbufEntryBytes)
	}
	if !r.Has(f.RmemEntryBytes) {
		held = r.Int(f.SkRmemAlloc)
		f.late++
	}
	f.alloc.Add(key, held)
	f.limit.Add(key, limit)
	if limit > 0 {
		f.fill.Add(key, 100*held/limit)
	}
	if r.Str(f.Protocol) == "tcp" && r.Has(f.SkRcvbuf) {
		f.allowed.read(limit)
	}
	if peak := f.worst.read(r, held, limit); peak > 0 && limit > 0 {
		f.fillPeak.Add(key, 100*peak/limit)
	}
}

func (f *sormem) segment(r *engine.Row) {
	if r.Has(f.SkRmemAlloc) {
		f.arrival.Add(f.keys.Of(r), r.Int(f.SkRmemAlloc))
		f.worst.arrived(r, r.Int(f.SkRmemAlloc))
	}
}

func (f *sormem) drop(r *engine.Row) {
	s := r.Sock
	if full := f.lines.drop(r); s == nil {
		s = full
	}
	f.worst.drop(r, s)
}

func (f *sormem) full(r *engine.Row) {
	f.worst.overflow(r)
	if r.Str(f.Func) == "udp_queue_rcv_skb" {
		f.udp++
		return
	}
	f.lines.add(r, fmt.Sprintf("rmem_alloc %d > rcvbuf %d, skb size %d", r.Int(f.SkRmemAlloc), r.Int(f.SkRcvbuf), r.Int(f.TruesizeBytes)))
}

func (f *sormem) exceeded(r *engine.Row) {
	if r.Str(f.Dir) == "send" {
		if f.sends++; !f.compat {
			return
		}
	}
	f.worst.overflow(r)
	f.lines.add(r, fmt.Sprintf("rmem_alloc %d, allocated %d", r.Int(f.SkRmemAlloc), r.Int(f.MemAllocatedPages)))
}
