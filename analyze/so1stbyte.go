package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "so1stbyte",
	Group:    groupSlow,
	Question: "how long from connect(2) until the first byte is read: how busy is the remote application?",
	Main:     []string{"us"},
	Help: `Microseconds from the start of an IP connect to the end of the first receive call on that
socket that returned data, per process. --ttfb adds the same from ESTABLISHED, without the
handshake. --by host,minute shows which remote hosts were busy at what time. A socket that
was passed on counts for the process that connected it.

The original matches by process and descriptor: a receive that returns nothing ends the
span, and a start survives close(2) until the descriptor is reused. --compat does the same.`,
	Example: "so1stbyte --ttfb",
	Options: []engine.Option{
		{Name: "ttfb", Kind: engine.Flag, Doc: "also from ESTABLISHED"},
		engine.By("comm,pid", append([]string{"second", "minute", "ustack"}, engine.SocketKeys...)...),
		engine.Compat("match by process and descriptor; any receive ends the span"),
	},
	New: newSo1stbyte,
})

// firstByte is the state of one socket.
type firstByte struct {
	start, established int64
	key                engine.Key
	fd                 int64 // plus one; 0 if unknown
}

type descriptor struct{ pid, fd int64 }

type so1stbyte struct {
	us, ttfb *shape.Map[engine.Key, agg.Log2]
	keys     *engine.Keys
	gaps     *agg.Gaps
	lost     int64
	compat   bool
	socks    agg.PerSocket[firstByte]
	open     agg.Spans[descriptor] // as the original keeps them

	right, original, agree int64

	Pid, Ret, DurNs, Fd   scan.Int
	Family, Dir, NewState scan.Str
}

func newSo1stbyte(in *engine.Input) engine.Fold {
	f := &so1stbyte{compat: in.Flag("compat"), keys: in.Keys(nil)}
	in.Bind(f)
	f.gaps = in.Gaps("sys_connect", "sock_io")
	in.Sockets("")
	in.On("sys_connect", f.connect)
	in.On("sock_io", f.io)
	in.Use("sys_accept", "", f.accept)
	if f.ttfb = shape.Hist(in, "ttfb_us", "us", f.keys.Fields...); in.Flag("ttfb") {
		in.Use("tcp_state", "there is no time from ESTABLISHED", f.state)
	}
	f.us = shape.Hist(in, "us", "us", f.keys.Fields...)
	return shape.Also(f.ttfb, f.us, f)
}

func (f *so1stbyte) connect(r *engine.Row) {
	family, ret := r.Str(f.Family), r.Int(f.Ret)
	if r.Sock == nil || family != "inet" && family != "inet6" {
		return
	}
	d := descriptor{r.Int(f.Pid), r.Int(f.Fd)}
	if !r.Has(f.Fd) {
		d.fd = -1
	}
	s := f.socks.Of(r.Sock)
	s.fd = d.fd + 1
	if ret < 0 && ret != -calls.EINPROGRESS {
		f.open.End(d)
		return
	}
	s.start, s.key = r.TS-r.Int(f.DurNs), f.keys.Of(r)
	f.open.Begin(d, s.start)
}

// accept learns descriptors, which the original's rule goes by.
func (f *so1stbyte) accept(r *engine.Row) {
	if r.Sock != nil && r.Int(f.Ret) >= 0 && r.Has(f.Ret) {
		f.socks.Of(r.Sock).fd = r.Int(f.Ret) + 1
	}
}

func (f *so1stbyte) state(r *engine.Row) {
	if r.Str(f.NewState) == "ESTABLISHED" {
		f.socks.Of(r.Sock).established = r.TS
	}
}

func (f *so1stbyte) io(r *engine.Row) {
	if r.Sock == nil || r.Str(f.Dir) != "recv" {
		return
	}
	s := f.socks.Of(r.Sock)
	began, ended := f.open.End(descriptor{r.Int(f.Pid), s.fd - 1})
	if ended && !f.gaps.Of(r.Sock, began, r.TS) {
		f.original++
		if f.compat {
			f.us.Add(f.keys.Of(r), (r.TS-began)/1000)
		}
	}
	if s.start == 0 || r.Int(f.Ret) <= 0 {
		return
	}
	if f.gaps.Of(r.Sock, s.start, r.TS) { // the first byte may be among lost rows
		f.lost, s.start = f.lost+1, 0
		return
	}
	f.right++
	if ended && began == s.start {
		f.agree++
	}
	if !f.compat {
		f.us.Add(s.key, (r.TS-s.start)/1000)
	}
	if s.established != 0 {
		f.ttfb.Add(s.key, (r.TS-s.established)/1000)
	}
	s.start = 0
}

// Finish tells the rules apart.
func (f *so1stbyte) Finish(a *render.Answer) {
	calls.NoteLostEnds(a, f.lost, "first byte")
	if f.agree == f.right && f.agree == f.original {
		return
	}
	rule, other, n, m := "", "the original (--compat)", f.right, f.original
	if f.compat {
		rule, other, n, m = "--compat: ", "netrec's own rule", f.original, f.right
	}
	a.Note(fmt.Sprintf("%s%s; %s gives %s, %s of them the same", rule, engine.Plural(n, "sample", "samples"), other, engine.Thousands(m), engine.Thousands(f.agree)))
}
