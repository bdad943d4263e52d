package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// dropLine is a packet that was dropped, as a line shows it.
type dropLine struct {
	task                                         shape.Process // 0 unless the packet was dropped for it
	dev, proto, from, to, reason, location, kind string
	length                                       int64

	sock *agg.Socket // where the line is written
	ts   int64
}

func dropFields(in *engine.Input) []render.Field[dropLine] {
	ts := func(d *dropLine) int64 { return d.ts }
	return []render.Field[dropLine]{
		line.TimeOfDay(in, ts),
		render.NonZero("pid", func(d *dropLine) int64 { return d.task.Pid }).Text("PID", -7),
		render.TextOr("comm", func(d *dropLine) string { return d.task.Comm }).Text("COMM", -12).Cut(),
		render.TextOr("dev", func(d *dropLine) string { return d.dev }).Text("DEV", -8),
		render.TextOr("protocol", func(d *dropLine) string { return d.proto }).Text("PROTO", -6),
		render.TextOr("from", func(d *dropLine) string { return d.from }).Text("SADDR:SPORT", -21),
		render.TextOr("to", func(d *dropLine) string { return d.to }).Text("DADDR:DPORT", -21),
		render.TextOr("reason", func(d *dropLine) string { return d.reason }).Text("REASON", -20),
		render.TextOr("location", func(d *dropLine) string { return d.location }).Text("LOCATION", 0),
		render.TextOr("ethertype", func(d *dropLine) string { return d.kind }),
		render.Num("len_bytes", func(d *dropLine) int64 { return d.length }).In("bytes"),
		render.NonZero("sock", func(d *dropLine) int64 { return int64(d.sock.Addr) }).As(render.Addr),
		render.NumOr("generation", func(d *dropLine) (int64, bool) { return int64(d.sock.Gen), d.sock.Addr != 0 }),
		render.Num("ts_ns", ts).In("ns"),
	}
}

// dropLines is a line for every dropped packet.
type dropLines struct {
	in    *engine.Input
	t     *render.List[dropLine]
	lines line.Waiting[dropLine]
	names agg.Intern

	Sport, Dport, LenBytes                                  scan.Int
	Ethertype, Protocol, Saddr, Daddr, DropReason, Location scan.Str
}

func newDropLines(in *engine.Input) *dropLines {
	f := &dropLines{in: in}
	in.Bind(f)
	in.Sockets("")
	f.lines.Line = f.line
	in.OnEnd(f.lines.Ended)
	f.t = render.ListOf(in.Table, render.Spec{Name: "drops"}, dropFields(in)...)
	return f
}

// add takes a row of skb_drop; its owner may be known only later.
func (f *dropLines) add(r *engine.Row, dev string) {
	d := dropLine{dev: dev, proto: f.names.Get(r.Str(f.Protocol)), reason: f.names.Get(r.Str(f.DropReason)), location: f.names.Get(r.Str(f.Location)),
		kind: f.names.Get(r.Str(f.Ethertype)), length: r.Int(f.LenBytes)}
	if r.HasStr(f.Saddr) {
		d.from, d.to = packets.Ends(r, f.Saddr, f.Sport, f.Daddr, f.Dport)
	}
	if r.Sock != nil {
		f.lines.Add(r.Sock, r.TS, d)
		return
	}
	if pid, comm := f.in.Owner(r); pid != 0 {
		d.task = shape.Process{Comm: f.names.Get(comm), Pid: pid}
	}
	f.lines.Pass(r.TS, d)
}

func (f *dropLines) line(s *agg.Socket, ts int64, d dropLine) {
	if d.task.Pid == 0 {
		d.task = shape.Process{Comm: s.Comm, Pid: s.Pid}
	}
	d.sock, d.ts = s, ts
	f.t.Line(d)
}

// Finish writes the lines that still wait.
func (f *dropLines) Finish(*render.Answer) { f.lines.Rest() }

// skbDevices knows the device at which each sk_buff was seen last, for rows that do not
// say it themselves.
type skbDevices struct {
	last  agg.Pending[uint64, string]
	names agg.Intern

	Skb scan.Int
	Dev scan.Str
}

// newSkbDevices follows sk_buffs; without says what the answer lacks if they cannot be.
func newSkbDevices(in *engine.Input, without string) *skbDevices {
	f := &skbDevices{}
	in.Bind(f)
	for _, event := range []string{"dev_queue", "dev_start_xmit", "dev_gro_in", "dev_recv"} {
		in.Context(event, without, func(r *engine.Row) { f.last.Begin(r.Uint(f.Skb), f.names.Get(r.Str(f.Dev))) })
	}
	packets.Follow(in, func(skb uint64) { f.last.End(skb) }, f.last.Clear)
	// From here on the address is another's.
	for _, event := range []string{"skb_alloc", "skb_consume", "skb_free"} {
		in.Context(event, "", func(r *engine.Row) { f.last.End(r.Uint(f.Skb)) })
	}
	return f
}

// of is the device of the row's sk_buff, "" if none was seen.
func (f *skbDevices) of(r *engine.Row) string {
	dev, _ := f.last.Open(r.Uint(f.Skb))
	return dev
}
