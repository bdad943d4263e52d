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
	t := f.in.Table(render.Spec{Name: "hosts", Columns: []render.Column{render.Col("host", render.String).Text("HOST", -16),
		render.Col("requests", render.Int).Text("REQUESTS", 8), render.Col("lost", render.Int).Text("LOST", 6), render.Col("late", render.Int).Text("LATE", 6),
		render.Col("duplicates", render.Int).Text("DUPS", 6), render.Col("min_us", render.Int).Text("MIN_us", 9).In("us"), render.Col("average_us", render.Int).Text("AVG_us", 9).In("us"),
		render.Col("max_us", render.Int).Text("MAX_us", 9).In("us"), render.Col("pending", render.Int), render.Col("no_neighbour", render.Int), render.Col("unknown", render.Int)}})
	for _, k := range f.hosts.Sorted(func(h *echoHost) int64 { return -h.sent }, shape.Text.Compare) {
		h := f.hosts.At(k)
		answered := h.rtt.Count > 0
		t.Str(string(k)).Int(h.sent).Int(max(h.sent-h.rtt.Count-h.pending-h.unknown, 0)).Int(h.late).Int(h.twice)
		t.IntOr(h.rtt.Min, answered).IntOr(h.rtt.Average(), answered).IntOr(h.rtt.Max, answered).Int(h.pending).Int(h.unsent).Int(h.unknown).End()
	}
	return pending
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

// line shows an answered request.
func (f *superping) line(r *engine.Row, k echo, ns int64) {
	version, us := int64(4), ns/1000
	if k.family == "inet6" {
		version = 6
	}
	f.rtt.Add(us)
	f.host(k).rtt.Add(us)
	s := fmt.Sprintf("IPv%d ping, ID %d seq %d: %d us", version, k.id, k.seq, us)
	if f.log == nil {
		f.t.Str(s)
	} else if ping, ok := f.log.take(k.seq, k.remote); ok {
		f.log.more.Add(ping - us)
		f.t.Str(fmt.Sprintf("%s; ping says %d us, %+d us", s, ping, ping-us)).Int(ping).Int(ping - us)
	} else {
		f.t.Str(s).Null(2)
	}
	f.t.Int(version).Str(k.local).Str(k.remote).Int(k.id).Int(k.seq).Int(us).Int(ns).StrOr(r.Str(f.Dev)).Int(k.netns).Int(r.TS).End()
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
