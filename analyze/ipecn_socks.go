package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// ecnEnds are the two ends of a connection, seen from this host.
type ecnEnds struct {
	laddr, raddr string
	lport, rport int64
}

// ecnCuts is how congestion control of a socket reacted to marks.
type ecnCuts struct{ cuts, cwnd, ssthresh int64 }

// ecnSock is a socket whose packets were marked.
type ecnSock struct {
	is      agg.Socket
	in, out int64 // marks
	ecnCuts
}

// ecnSocks ties marks to the sockets of this host that received the packets, or sent them.
// A packet at a device does not lead to its socket, so they are joined by their ends.
type ecnSocks struct {
	in    *engine.Input
	marks map[ecnEnds]*ecnSock
	cuts  agg.PerSocket[ecnCuts]
	ended []*ecnSock

	SndCwnd, SndSsthresh scan.Int
}

func newEcnSocks(in *engine.Input) *ecnSocks {
	f := &ecnSocks{in: in, marks: map[ecnEnds]*ecnSock{}}
	in.Bind(f)
	in.Sockets("")
	in.OnEnd(f.end)
	return f
}

// mark counts a packet with a mark.
func (f *ecnSocks) mark(k ecnEnds, in bool) {
	s := f.marks[k]
	if s == nil {
		if k.lport == 0 || len(f.marks) >= agg.MaxFlows {
			return
		}
		s = &ecnSock{}
		f.marks[k] = s
	}
	if in {
		s.in++
	} else {
		s.out++
	}
}

// reaction notes that congestion control cuts the window: from what, and to what it will be.
func (f *ecnSocks) reaction(r *engine.Row) {
	c := f.cuts.Of(r.Sock)
	*c = ecnCuts{c.cuts + 1, r.Int(f.SndCwnd), r.Int(f.SndSsthresh)}
}

// end takes the marks of a socket when its life is over.
func (f *ecnSocks) end(s *agg.Socket) {
	k := ecnEnds{strings.TrimPrefix(s.Laddr, "::ffff:"), strings.TrimPrefix(s.Raddr, "::ffff:"), s.Lport, s.Rport}
	m := f.marks[k]
	if m == nil || len(f.ended) >= agg.MaxFlows {
		return
	}
	delete(f.marks, k)
	m.is, m.ecnCuts = *s, *f.cuts.Of(s)
	f.ended = append(f.ended, m)
}

// Finish lists the sockets, those with most marks first.
func (f *ecnSocks) Finish(*render.Answer) {
	slices.SortFunc(f.ended, func(a, b *ecnSock) int {
		return cmp.Or(cmp.Compare(b.in+b.out, a.in+a.out), cmp.Compare(a.is.Serial, b.is.Serial))
	})
	t := f.in.Table(render.Spec{Name: "sockets", Title: "sockets of this host that received or sent them", Columns: slices.Concat(
		[]render.Column{render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -12).Cut()}, line.Ends(),
		[]render.Column{render.Col("marks_in", render.Int).Text("IN", 7), render.Col("marks_out", render.Int).Text("OUT", 7), render.Col("cuts", render.Int).Text("CWR", 5),
			render.Col("cwnd_change", render.String).Text("CWND", 9).ForPeople(), render.Col("last_cwnd", render.Int), render.Col("last_ssthresh", render.Int)}, line.Identity())})
	for _, s := range f.ended {
		change := ""
		if s.cuts > 0 {
			change = fmt.Sprintf("%d>%d", s.cwnd, s.ssthresh)
		}
		line.PutEnds(t.IntOr(s.is.Pid, s.is.Pid != 0).StrOr(s.is.Comm), &s.is).Int(s.in).Int(s.out).Int(s.cuts).Str(change)
		line.PutIdentity(t.IntOr(s.cwnd, s.cuts > 0).IntOr(s.ssthresh, s.cuts > 0), &s.is).End()
	}
}
