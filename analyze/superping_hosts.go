package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// echoHost is what became of the echo requests to one host.
type echoHost struct {
	sent, twice, late, pending, unsent, unknown int64
	rtt                                         agg.Stats // us
}

// host is what is known of the host that an echo is of.
func (f *superping) host(k echo) *echoHost {
	if h := f.hosts.At(shape.Text(k.remote)); h != nil {
		return h
	}
	return &echoHost{}
}

// forget gives up the requests without an answer where rows were lost: it may be among those, and
// so may another request with the same number.
func (f *superping) forget() {
	f.open.Each(func(k echo, _ int64) {
		f.host(k).unknown++
		f.unknown++
	})
	f.open.Clear()
	f.bare.Clear()
	clear(f.done)
}

// listHosts is the table of the hosts that were pinged. A request is lost if its answer did
// not come within the window; those at whose end the recording was over, or rows were lost, are
// neither.
func (f *superping) listHosts() (pending int64) {
	f.open.Each(func(k echo, began int64) {
		if f.window > 0 && f.in.End()-began < f.window {
			f.host(k).pending++
			pending++
		}
	})
	t := render.ListOf(f.in.Table, render.Spec{Name: "hosts"}, echoHostFields...)
	for _, k := range f.hosts.Sorted(func(h *echoHost) int64 { return -h.sent }, shape.Text.Compare) {
		t.Line(namedEchoHost{string(k), f.hosts.At(k)})
	}
	return pending
}

type namedEchoHost struct {
	name string
	*echoHost
}

// answered is a time that only a host has that answered.
func (h *namedEchoHost) answered(us int64) (int64, bool) { return us, h.rtt.Count > 0 }

var echoHostFields = []render.Field[namedEchoHost]{
	render.Text("host", func(h *namedEchoHost) string { return h.name }).Text("HOST", -16),
	render.Num("requests", func(h *namedEchoHost) int64 { return h.sent }).Text("REQUESTS", 8),
	render.Num("lost", func(h *namedEchoHost) int64 { return max(h.sent-h.rtt.Count-h.pending-h.unknown, 0) }).Text("LOST", 6),
	render.Num("late", func(h *namedEchoHost) int64 { return h.late }).Text("LATE", 6),
	render.Num("duplicates", func(h *namedEchoHost) int64 { return h.twice }).Text("DUPS", 6),
	render.NumOr("min_us", func(h *namedEchoHost) (int64, bool) { return h.answered(h.rtt.Min) }).Text("MIN_us", 9).In("us"),
	render.NumOr("average_us", func(h *namedEchoHost) (int64, bool) { return h.answered(h.rtt.Average()) }).Text("AVG_us", 9).In("us"),
	render.NumOr("max_us", func(h *namedEchoHost) (int64, bool) { return h.answered(h.rtt.Max) }).Text("MAX_us", 9).In("us"),
	render.Num("pending", func(h *namedEchoHost) int64 { return h.pending }),
	render.Num("no_neighbour", func(h *namedEchoHost) int64 { return h.unsent }),
	render.Num("unknown", func(h *namedEchoHost) int64 { return h.unknown }),
}

// windowOption is how long an answer may take.
var windowOption = engine.Option{Name: "window", Short: "W", Kind: engine.Number, Default: "10", Doc: "seconds after which an unanswered request is lost; 0 for never"}

// Finish sums up.
func (f *superping) Finish(a *render.Answer) {
	f.log.finish(a)
	if f.sent == 0 && f.rtt.Count == 0 {
		return
	}
	pending := int64(0)
	if !f.compat {
		pending = f.listHosts()
	}
	a.Note(fmt.Sprintf("%s, %s answered, %s not answered, %s answered more than once; round trip min/avg/max %s/%s/%s us", engine.Plural(f.sent, "request", "requests"),
		engine.Thousands(f.rtt.Count), engine.Thousands(int64(f.open.Len())+f.open.Stale+f.late+f.unsent-pending), engine.Thousands(f.twice), engine.Thousands(f.rtt.Min), engine.Thousands(f.rtt.Average()), engine.Thousands(f.rtt.Max)))
	if f.unsent > 0 {
		a.Note(engine.Plural(f.unsent, "request", "requests") + " never left this host: the neighbour did not answer")
	}
	if f.unknown > 0 {
		a.Note("whether they were answered is not known, because rows were lost: " + engine.Plural(f.unknown, "request", "requests"))
	}
	if pending > 0 {
		a.Note(engine.Plural(pending, "request", "requests") + " had no answer yet when the recording ended")
	}
	if f.differ > 0 {
		a.Note(fmt.Sprintf("the original (--compat) would pair %s wrongly, because it compares only identifier and sequence number", engine.Plural(f.differ, "reply", "replies")))
	}
}

// answeredPing is a request with its answer, as a line shows it.
type answeredPing struct {
	echo
	ns, ts int64
	dev    string
	ping   int64 // what ping said, us
	pinged bool  // it said something
}

func (p *answeredPing) version() int64 {
	if p.family == "inet6" {
		return 6
	}
	return 4
}

func (p *answeredPing) us() int64 { return p.ns / 1000 }

func (p *answeredPing) words() string {
	s := fmt.Sprintf("IPv%d ping, ID %d seq %d: %d us", p.version(), p.id, p.seq, p.us())
	if p.pinged {
		s += fmt.Sprintf("; ping says %d us, %+d us", p.ping, p.ping-p.us())
	}
	return s
}

func (f *superping) fields() []render.Field[answeredPing] {
	fs := []render.Field[answeredPing]{render.Text("line", (*answeredPing).words).Text("LINE", 0).ForPeople()}
	if f.log != nil {
		fs = append(fs, render.NumOr("ping_us", func(p *answeredPing) (int64, bool) { return p.ping, p.pinged }).In("us"),
			render.NumOr("more_us", func(p *answeredPing) (int64, bool) { return p.ping - p.us(), p.pinged }).In("us"))
	}
	return append(fs, render.Num("ip", (*answeredPing).version),
		render.Text("saddr", func(p *answeredPing) string { return p.local }),
		render.Text("daddr", func(p *answeredPing) string { return p.remote }),
		render.Num("icmp_id", func(p *answeredPing) int64 { return p.id }),
		render.Num("icmp_seq", func(p *answeredPing) int64 { return p.seq }),
		render.Num("rtt_us", (*answeredPing).us).In("us"),
		render.Num("rtt_ns", func(p *answeredPing) int64 { return p.ns }).In("ns"),
		render.TextOr("dev", func(p *answeredPing) string { return p.dev }),
		render.Num("netns", func(p *answeredPing) int64 { return p.netns }),
		render.Num("ts_ns", func(p *answeredPing) int64 { return p.ts }).In("ns"))
}

// line shows an answered request.
func (f *superping) line(r *engine.Row, k echo, ns int64) {
	p := answeredPing{echo: k, ns: ns, ts: r.TS, dev: r.Str(f.Dev)}
	f.rtt.Add(p.us())
	f.host(k).rtt.Add(p.us())
	if f.log != nil {
		if p.ping, p.pinged = f.log.take(k.seq, k.remote); p.pinged {
			f.log.more.Add(p.ping - p.us())
		}
	}
	f.t.Line(p)
}

// dropped counts a request that never came to a device, because its neighbour is not known.
// The row does not say what kind of ICMP it was; what processes send by sockets for ICMP is
// echo requests, and the kernel's own messages belong to no process.
func (f *superping) dropped(r *engine.Row) {
	if proto := r.Str(f.Protocol); proto != "icmp" && proto != "icmpv6" || r.Sock == nil || r.Sock.Pid == 0 || !noNeighbour(r.Str(f.DropReason), r.Str(f.Location)) {
		return
	}
	f.sent++
	f.unsent++
	h := f.host(echo{remote: f.names.Get(r.Str(f.Daddr))})
	h.sent++
	h.unsent++
}

// noNeighbour tells drops of packets whose neighbour could not be found. Kernels before 5.17
// give no reason.
func noNeighbour(reason, location string) bool {
	if reason != "" {
		return strings.HasPrefix(reason, "NEIGH_")
	}
	for _, fn := range []string{"arp_error_report", "ndisc_error_report", "neigh_", "__neigh_"} {
		if strings.HasPrefix(location, fn) {
			return true
		}
	}
	return false
}
