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
	t := render.ListOf(f.in.Table, render.Spec{Name: "sockets", Title: "sockets of this host that received or sent them"}, ecnSockFields...)
	for _, s := range f.ended {
		t.Add(s)
	}
}

func (s *ecnSock) socket() *agg.Socket { return &s.is }

// change is what the last cut did to the window, "" if there was none.
func (s *ecnSock) change() string {
	if s.cuts == 0 {
		return ""
	}
	return fmt.Sprintf("%d>%d", s.cwnd, s.ssthresh)
}

var ecnSockFields = slices.Concat([]render.Field[ecnSock]{
	render.NonZero("pid", func(s *ecnSock) int64 { return s.is.Pid }).Text("PID", -7),
	render.TextOr("comm", func(s *ecnSock) string { return s.is.Comm }).Text("COMM", -12).Cut(),
}, render.Within((*ecnSock).socket, line.EndFields...), []render.Field[ecnSock]{
	render.Num("marks_in", func(s *ecnSock) int64 { return s.in }).Text("IN", 7),
	render.Num("marks_out", func(s *ecnSock) int64 { return s.out }).Text("OUT", 7),
	render.Num("cuts", func(s *ecnSock) int64 { return s.cuts }).Text("CWR", 5),
	render.Text("cwnd_change", (*ecnSock).change).Text("CWND", 9).ForPeople(),
	render.NumOr("last_cwnd", func(s *ecnSock) (int64, bool) { return s.cwnd, s.cuts > 0 }),
	render.NumOr("last_ssthresh", func(s *ecnSock) (int64, bool) { return s.ssthresh, s.cuts > 0 }),
}, render.Within((*ecnSock).socket, line.IdentityFields...))
