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
}

// dropLines is a line for every dropped packet.
type dropLines struct {
	in    *engine.Input
	t     *render.Table
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
	f.t = in.Table(render.Spec{Name: "drops", Columns: []render.Column{render.Col("time", render.Clock).Text("TIME", -8).ForPeople(),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -12).Cut(), render.Col("dev", render.String).Text("DEV", -8),
		render.Col("protocol", render.String).Text("PROTO", -6), render.Col("from", render.String).Text("SADDR:SPORT", -21), render.Col("to", render.String).Text("DADDR:DPORT", -21),
		render.Col("reason", render.String).Text("REASON", -20), render.Col("location", render.String).Text("LOCATION", 0),
		render.Col("ethertype", render.String), render.Col("len_bytes", render.Int).In("bytes"), render.Col("sock", render.Addr), render.Col("generation", render.Int), render.Col("ts_ns", render.Int).In("ns")}})
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
	pid, comm := s.Pid, s.Comm
	if d.task.Pid != 0 {
		pid, comm = d.task.Pid, d.task.Comm
	}
	f.t.Int(f.in.Local(ts)).IntOr(pid, pid != 0).StrOr(comm).StrOr(d.dev).StrOr(d.proto).StrOr(d.from).StrOr(d.to).StrOr(d.reason).StrOr(d.location)
	f.t.StrOr(d.kind).Int(d.length).IntOr(int64(s.Addr), s.Addr != 0).IntOr(int64(s.Gen), s.Addr != 0).Int(ts).End()
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
