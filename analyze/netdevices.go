package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// deviceSums is what crossed a device: packets on both sides of GRO and of GSO, and how
// many segments those of the stack stand for.
type deviceSums struct {
	in, up, down, out int64
	wireIn, wireOut   int64
	mostIn, mostOut   int64
	refused           int64
}

func (f *netsize) device(r *engine.Row) *deviceSums {
	if d := f.devices.At(shape.Text(r.Str(f.dev))); d != nil {
		return d
	}
	return &deviceSums{}
}

// listDevices is the table of them.
func listDevices(in *engine.Input, names []shape.Text, sums *agg.Keyed[shape.Text, deviceSums]) {
	t := in.Table(render.Spec{Name: "devices", Columns: []render.Column{render.Col("dev", render.String).Text("DEV", -15),
		render.Col("nic_recv", render.Int).Text("NIC_RECV", 10), render.Col("recv", render.Int).Text("RECV", 10),
		render.Col("recv_segments", render.Fixed).Digits(2).Text("PER_RECV", 8), render.Col("send", render.Int).Text("SEND", 10),
		render.Col("nic_send", render.Int).Text("NIC_SEND", 10), render.Col("wire_send", render.Int).Text("WIRE", 10),
		render.Col("send_segments", render.Fixed).Digits(2).Text("PER_SEND", 8), render.Col("refused", render.Int).Text("REFUSED", 8),
		render.Col("most_recv_segments", render.Int), render.Col("most_send_segments", render.Int)}})
	for _, n := range names {
		d := sums.At(n)
		t.Str(string(n)).Int(d.in).Int(d.up).IntOr(d.wireIn*100/max(d.up, 1), d.up > 0).Int(d.down).Int(d.out).IntOr(d.wireOut, d.wireOut > 0)
		t.IntOr(d.wireOut*100/max(d.down, 1), d.down > 0 && d.wireOut > 0).Int(d.refused).IntOr(d.mostIn, d.mostIn > 0).IntOr(d.mostOut, d.mostOut > 0).End()
	}
}

// offload is what the hardware makes of a packet.
type offload struct {
	segs, size, header int64 // segments, their payload, and the headers that each gets
}

// started sees how many segments the hardware will make. The driver's answer says if it
// took the packet.
func (f *netsize) started(r *engine.Row) {
	o := offload{max(1, r.Int(f.segs)), r.Int(f.size), 66}
	if r.Str(f.proto) == "ipv6" {
		o.header = 86
	}
	f.offloaded.Begin(r.Uint(f.skb), o)
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
