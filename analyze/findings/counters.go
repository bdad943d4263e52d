package findings

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// counted reports whether the recording has a protocol counter of its start and end.
func counted(in *engine.Input, name string) bool {
	_, ok := in.Meta.Counters.Stop[name]
	return ok
}

// grown is by how much a protocol counter grew during the recording.
func grown(in *engine.Input, name string) int64 {
	return max(0, in.Meta.Counters.Stop[name]-in.Meta.Counters.Start[name])
}

// beside is what the counters, which are those of whole network namespaces, count beside what the rows
// are about; "" if nothing.
func beside(in *engine.Input) string {
	rec := &in.Meta.Recording
	filters := len(rec.Filters)
	if rec.Filters["netns"] != "" {
		filters-- // whose counters these are
	}
	switch {
	case in.Selects():
		return "what is not selected"
	case filters > 0 || rec.Sample != nil:
		return "what the filters left out"
	}
	return ""
}

// byCounter says where a number comes from, and whose it is.
func byCounter(in *engine.Input, name string) string {
	said := "by the kernel's counter " + name
	if n := len(in.Meta.Counters.Netns); n > 1 {
		said += fmt.Sprintf(" of %d network namespaces", n)
	}
	if more := beside(in); more != "" {
		said += ", which also counts " + more
	}
	return said
}

// resending is how a connection repeats itself.
type resending struct {
	at          int64  // of the newest retransmission, 0 once it is acknowledged
	seq         uint32 // of it
	all, needed int64  // segments retransmitted; of them not known to have arrived before
	last        int64  // of them with the newest
}

// spurious tells retransmissions of what had arrived already: an end was too busy to answer in time.
type spurious struct {
	in    *engine.Input
	again *engine.Resent
	socks agg.PerSocket[resending]

	TcpSeq, SndUna, AckedBytes, RttMinUs scan.Int
}

// repeats follows retransmissions once, for all rules that judge by them.
func (f *flows) repeats() *spurious {
	if f.spurious != nil {
		return f.spurious
	}
	f.spurious = &spurious{in: f.in, again: f.in.Resent()}
	f.in.Bind(f.spurious)
	f.in.Use("tcp_retrans", "", f.spurious.retrans)
	f.in.Use("tcp_rcv_est", "", f.spurious.segment)
	return f.spurious
}

func (f *spurious) retrans(r *engine.Row) {
	n, v := f.again.Segments(r), f.socks.Of(r.Sock)
	v.all += n
	v.needed += n
	v.at, v.seq, v.last = r.TS, uint32(r.Int(f.TcpSeq)), n
}

// segment takes an ACK that comes sooner after a retransmission than half of the least round trip, which
// short connections measure once, for one of what was sent first.
func (f *spurious) segment(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	if v.at == 0 || int32(uint32(r.Int(f.SndUna)+r.Int(f.AckedBytes))-v.seq) <= 0 {
		return
	}
	if r.Has(f.RttMinUs) && r.TS-v.at < r.Int(f.RttMinUs)*1000/2 {
		v.needed -= v.last
	}
	v.at = 0
}

// byCounters reports that at least half of what was retransmitted had arrived already, as the peers
// said or their next ACK showed, by the kernel's counters. Where they also count others they do not tell.
func (f *spurious) byCounters() bool {
	n := grown(f.in, "TcpExtTCPDSACKRecv") + grown(f.in, "TcpExtTCPSpuriousRTOs")
	return n > 0 && n*2 >= grown(f.in, "TcpRetransSegs") && beside(f.in) == ""
}

// byRows reports the same of one connection, where the counters do not tell.
func (f *spurious) byRows(s *agg.Socket) bool {
	v := f.socks.Of(s)
	return v.all > 0 && v.needed*2 <= v.all && (beside(f.in) != "" || !counted(f.in, "TcpRetransSegs"))
}
