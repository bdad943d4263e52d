package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "netsize",
	Group:    groupMuch,
	Question: "what packet sizes cross the device layer, before and after segmentation and merging in software?",
	Help: `Four histograms of bytes: nic_recv_bytes as drivers deliver packets to GRO, recv_bytes as
the stack gets them from GRO, send_bytes as the stack gives them to devices,
nic_send_bytes as drivers get them. Large packets in recv and small ones in nic_recv mean
that GRO merges. Large packets in send and small ones in nic_send mean that GSO segments
in software.

--devices prints one line per device: packets on each side of GRO and GSO, and how many
wire packets one packet of the stack stands for. --segments has this per packet, as
histograms of what GRO merged and what GSO will segment. --wire counts a packet that the
hardware will segment as the segments that leave the host, assuming headers of 66 bytes
(IPv4) or 86 bytes (IPv6). Drivers without GRO are missing from nic_recv. A packet that
crosses a bridge, bond, tunnel or veth pair counts at each of these devices.

A packet that a driver refuses is retried and counts once; --compat counts each try.`,
	Example: "netsize --by dev",
	Options: []engine.Option{
		engine.By("", append([]string{"dev", "queue", "cpu"}, engine.SocketKeys...)...),
		{Name: "devices", Kind: engine.Flag, Doc: "also what GRO and GSO did, per device"},
		{Name: "segments", Kind: engine.Flag, Doc: "also how many wire packets each packet of the stack stands for"},
		{Name: "wire", Kind: engine.Flag, Doc: "sizes of the segments on the wire, not of what drivers get"},
		engine.Compat("packets that a driver refused count again"),
	},
	New: newNetsize,
})

type netsize struct {
	in        *engine.Input
	keys      *engine.Keys
	devices   agg.Keyed[shape.Text, deviceSums]
	hists     [4]*shape.Map[engine.Key, agg.Log2] // nic_recv, nic_send, recv, send
	segments  [4]*shape.Map[engine.Key, agg.Log2] // of recv and send; nil without --segments
	compat    bool
	wire      bool
	list      bool
	offloaded agg.Pending[uint64, offload]
	original  int64 // tries that the original counts and the right rule does not

	Skb, LenBytes, Rc, GsoSegs, GsoSize scan.Int
	Dev, Ethertype                      scan.Str
}

func newNetsize(in *engine.Input) engine.Fold {
	f := &netsize{in: in, keys: in.Keys(nil), compat: in.Flag("compat"), wire: in.Flag("wire"), list: in.Flag("devices")}
	in.Bind(f)
	var all []engine.Fold
	for i, name := range []string{"nic_recv_bytes", "nic_send_bytes", "recv_bytes", "send_bytes"} {
		f.hists[i] = shape.Hist(in, name, "bytes", f.keys.Fields...)
		all = append(all, f.hists[i])
	}
	if in.Flag("segments") {
		f.segments[2] = shape.Hist(in, "recv_segments", "segments", f.keys.Fields...)
		f.segments[3] = shape.Hist(in, "send_segments", "segments", f.keys.Fields...)
		all = append(all, f.segments[2], f.segments[3])
	}
	in.On("dev_recv", func(r *engine.Row) { f.add(r, 2) })
	in.On("dev_xmit", f.xmit)
	in.Use("dev_queue", "there is no send_bytes", func(r *engine.Row) { f.add(r, 3) })
	in.Use("dev_gro_in", "there is no nic_recv_bytes", func(r *engine.Row) { f.add(r, 0) })
	if f.wire || f.list {
		in.Use("dev_start_xmit", "what the hardware cuts is not known", f.started)
	}
	return shape.Also(append(all, f)...)
}

// add counts a packet at one of the four places.
func (f *netsize) add(r *engine.Row, place int) {
	f.hists[place].Add(f.keys.Of(r), r.Int(f.LenBytes))
	d := f.device(r)
	segs := max(1, r.Int(f.GsoSegs))
	if f.segments[place] != nil {
		f.segments[place].Add(f.keys.Of(r), segs)
	}
	switch place {
	case 0:
		d.in++
	case 2:
		d.up++
		d.wireIn += segs
		d.mostIn = max(d.mostIn, segs)
	case 3:
		d.down++
		d.mostOut = max(d.mostOut, segs)
	}
}

func (f *netsize) xmit(r *engine.Row) {
	cut, known := f.offloaded.End(r.Uint(f.Skb))
	d := f.device(r)
	if r.Int(f.Rc) == packets.Busy {
		f.original++
		d.refused++
		if !f.compat {
			return
		}
	}
	d.out++
	if known {
		d.wireOut += cut.segs
	}
	if f.wire && known {
		cut.each(r.Int(f.LenBytes), func(n int64) { f.hists[1].Add(f.keys.Of(r), n) })
		return
	}
	f.hists[1].Add(f.keys.Of(r), r.Int(f.LenBytes))
}

// Finish lists the devices and what the histograms cannot show.
func (f *netsize) Finish(a *render.Answer) {
	names := f.devices.Sorted(func(*deviceSums) int64 { return 0 }, shape.Text.Compare)
	var silent []string
	for _, n := range names {
		if d := f.devices.At(n); d.up > 0 && d.in == 0 {
			silent = append(silent, string(n))
		}
	}
	if f.list {
		listDevices(f.in, names, &f.devices)
	}
	if len(silent) > 0 {
		a.Note("not in nic_recv, because they receive without GRO: " + strings.Join(silent, ", "))
	}
	if f.original > 0 {
		a.Note(fmt.Sprintf("drivers refused %s; the original (--compat) counts these as sent", engine.Plural(f.original, "packet", "packets")))
	}
}

// deviceSums is what crossed a device: packets on both sides of GRO and of GSO, and how
// many segments those of the stack stand for.
type deviceSums struct {
	in, up, down, out int64
	wireIn, wireOut   int64
	mostIn, mostOut   int64
	refused           int64
}

func (f *netsize) device(r *engine.Row) *deviceSums {
	if d := f.devices.At(shape.Text(r.Str(f.Dev))); d != nil {
		return d
	}
	return &deviceSums{}
}

// listDevices is the table of them.
func listDevices(in *engine.Input, names []shape.Text, sums *agg.Keyed[shape.Text, deviceSums]) {
	t := render.ListOf(in.Table, render.Spec{Name: "devices"}, deviceFields...)
	for _, n := range names {
		t.Line(namedDevice{string(n), sums.At(n)})
	}
}

type namedDevice struct {
	name string
	*deviceSums
}

var deviceFields = []render.Field[namedDevice]{
	render.Text("dev", func(d *namedDevice) string { return d.name }).Text("DEV", -15),
	render.Num("nic_recv", func(d *namedDevice) int64 { return d.in }).Text("NIC_RECV", 10),
	render.Num("recv", func(d *namedDevice) int64 { return d.up }).Text("RECV", 10),
	render.NumOr("recv_segments", func(d *namedDevice) (int64, bool) { return d.wireIn * 100 / max(d.up, 1), d.up > 0 }).As(render.Fixed).Digits(2).Text("PER_RECV", 8),
	render.Num("send", func(d *namedDevice) int64 { return d.down }).Text("SEND", 10),
	render.Num("nic_send", func(d *namedDevice) int64 { return d.out }).Text("NIC_SEND", 10),
	render.NumOr("wire_send", func(d *namedDevice) (int64, bool) { return d.wireOut, d.wireOut > 0 }).Text("WIRE", 10),
	render.NumOr("send_segments", func(d *namedDevice) (int64, bool) {
		return d.wireOut * 100 / max(d.down, 1), d.down > 0 && d.wireOut > 0
	}).As(render.Fixed).Digits(2).Text("PER_SEND", 8),
	render.Num("refused", func(d *namedDevice) int64 { return d.refused }).Text("REFUSED", 8),
	render.NumOr("most_recv_segments", func(d *namedDevice) (int64, bool) { return d.mostIn, d.mostIn > 0 }),
	render.NumOr("most_send_segments", func(d *namedDevice) (int64, bool) { return d.mostOut, d.mostOut > 0 }),
}

// offload is what the hardware makes of a packet.
type offload struct {
	segs, size, header int64 // segments, their payload, and the headers that each gets
}

// started sees how many segments the hardware will make. The driver's answer says if it
// took the packet.
func (f *netsize) started(r *engine.Row) {
	o := offload{max(1, r.Int(f.GsoSegs)), r.Int(f.GsoSize), 66}
	if r.Str(f.Ethertype) == "ipv6" {
		o.header = 86
	}
	f.offloaded.Begin(r.Uint(f.Skb), o)
}

// each calls add with the size of every segment of a packet.
func (o offload) each(length int64, add func(int64)) {
	last := length - (o.segs-1)*o.size
	if o.segs == 1 || o.size == 0 || last <= 0 {
		add(length)
		return
	}
	add(last)
	for range o.segs - 1 {
		add(min(o.header, last) + o.size)
	}
}
