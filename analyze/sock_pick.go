package analyze

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// sockPick is which sockets an argument means that is no kernel address.
type sockPick struct {
	word      string
	pid       int64
	near, far endPick // far is any unless the argument has both ends
	both      bool
}

// endPick is an end of a connection; the zero address and port are any.
type endPick struct {
	addr netip.Addr
	port int64
}

// Bounds of a list of sockets that match.
const (
	pickScreen = 10   // on a screen
	pickMost   = 1000 // anywhere
)

// parsePick reads 10.0.0.1:443, :443, both ends with a dash between them, a pid, or an IP address.
func parsePick(word string) (p sockPick, ok bool) {
	p.word = word
	if pid, err := strconv.ParseInt(word, 10, 32); err == nil && pid > 0 {
		p.pid = pid
		return p, true
	}
	near, far, both := strings.Cut(word, "-")
	if p.near, ok = parseEnd(near); ok && both {
		p.far, ok = parseEnd(far)
		p.both = ok
	}
	return p, ok
}

func parseEnd(s string) (e endPick, ok bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return endPick{addr: a.Unmap()}, true
	}
	if port, found := strings.CutPrefix(s, ":"); found {
		n, err := strconv.ParseUint(port, 10, 16)
		return endPick{port: int64(n)}, err == nil && n > 0
	}
	ap, err := netip.ParseAddrPort(s)
	return endPick{ap.Addr().Unmap(), int64(ap.Port())}, err == nil
}

// checkPick tells what is wrong with the argument of sock.
func checkPick(word string) error {
	if _, ok := parsePick(word); ok {
		return nil
	}
	return fmt.Errorf("%q is no socket: 10.0.0.1:443, [::1]:443, :443, 10.0.0.1:40000-10.0.0.2:443, a pid, an IP address or 0xffff888012345678", word)
}

func (e endPick) is(addr string, port int64) bool {
	if e.port != 0 && e.port != port {
		return false
	}
	if !e.addr.IsValid() {
		return true
	}
	a, err := netip.ParseAddr(addr)
	return err == nil && a.Unmap().WithZone("") == e.addr.WithZone("")
}

// matches reports whether a socket is meant.
func (p *sockPick) matches(s *agg.Socket) bool {
	if p.pid != 0 {
		return s.Pid == p.pid
	}
	if p.both {
		return p.near.is(s.Laddr, s.Lport) && p.far.is(s.Raddr, s.Rport)
	}
	return p.near.is(s.Laddr, s.Lport) || p.near.is(s.Raddr, s.Rport)
}

// findSocket makes the address of other words. Where they mean several sockets or none, the call
// becomes one that lists them.
func findSocket(src scan.Source, sel engine.Selection, c engine.Call) (engine.Call, error) {
	p, ok := parsePick(c.Word)
	if !ok {
		return c, checkPick(c.Word)
	}
	found, err := p.find(src, sel)
	if err == nil && len(found) == 0 && p.both { // whoever looks from the other end
		p.near, p.far = p.far, p.near
		found, err = p.find(src, sel)
	}
	if err != nil {
		return c, err
	}
	if len(found) == 1 {
		c.Addr, c.Word = found[0].Addr, ""
		if _, chosen := c.Options["gen"]; !chosen {
			c.Options = withOption(c.Options, "gen", strconv.Itoa(found[0].Gen))
		}
		return c, nil
	}
	list := *c.Analysis
	list.Arg, list.Main, list.New = "", nil, func(in *engine.Input) engine.Fold { return newPicked(in, p) }
	c.Analysis, c.Word = &list, ""
	return c, nil
}

func withOption(options map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for k, v := range options {
		all[k] = v
	}
	return all
}

// find goes through the recording once for the sockets that are meant.
func (p *sockPick) find(src scan.Source, sel engine.Selection) (found []line.UsedSock, err error) {
	out, err := render.NewOutput("json", render.Bpftrace, io.Discard, io.Discard)
	if err != nil {
		return nil, err
	}
	a := engine.Analysis{Name: "sock", New: func(in *engine.Input) engine.Fold {
		f := newPicked(in, *p)
		return engine.FoldFunc(func(*render.Answer) { found = f.best.Sorted() })
	}}
	_, err = engine.Run(src, []engine.Call{{Analysis: &a}}, sel, out)
	return found, err
}

// picked lists the sockets that an argument means.
type picked struct {
	in    *engine.Input
	pick  sockPick
	sums  agg.PerSocket[line.Usage]
	best  *agg.Greatest[line.UsedSock]
	bytes *engine.Bytes
}

func newPicked(in *engine.Input, pick sockPick) *picked {
	f := &picked{in: in, pick: pick, bytes: in.Bytes()}
	in.Answer.MostLimits(2) // they matter for the story, not for the list
	f.best = agg.NewGreatest(pickMost, func(a, b line.UsedSock) int {
		return cmp.Or(cmp.Compare(b.Tx+b.Rx, a.Tx+a.Rx), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Serial, b.Serial))
	})
	in.Sockets("")
	in.Always()
	for _, e := range line.EventNames(false) {
		in.Use(e, "", f.row)
	}
	in.OnEnd(func(s *agg.Socket) {
		if u := *f.sums.Of(s); u.Rows > 0 && pick.matches(s) {
			f.best.Add(line.UsedSock{Socket: *s, Usage: u, Until: s.Last})
		}
	})
	return f
}

func (f *picked) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	u := f.sums.Of(r.Sock)
	if u.Rows++; r.Event.Name == "sock_io" {
		u.IO(f.bytes.Moved(r))
	}
}

// Finish lists them with the command that shows each.
func (f *picked) Finish(a *render.Answer) {
	list := f.best.Sorted()
	all := int64(len(list)) + f.best.Dropped
	if all == 0 {
		f.in.None(fmt.Sprintf("no socket matches %s; to list those that there are: %s", f.pick.word, engine.Command(f.in.Meta, "socks --top 20")))
		return
	}
	t := render.ListOf(f.in.Table, render.Spec{Name: "matches", Title: fmt.Sprintf("%s matches %s", f.pick.word, engine.Plural(all, "socket", "sockets"))},
		render.NonZero("pid", func(s *sockLife) int64 { return s.Pid }).Text("PID", -7),
		render.TextOr("comm", func(s *sockLife) string { return s.Comm }).Text("COMM", -12).Cut(),
		render.Text("local", func(s *sockLife) string { return render.Endpoint(s.Laddr, s.Lport) }).Text("LOCAL", -21),
		render.Text("remote", func(s *sockLife) string { return render.Endpoint(s.Raddr, s.Rport) }).Text("REMOTE", -21),
		render.Num("bytes", func(s *sockLife) int64 { return s.Tx + s.Rx }).Text("BYTES", 10).In("bytes"),
		render.Num("rows", func(s *sockLife) int64 { return s.Rows }),
		render.Address("sock", func(s *sockLife) uint64 { return s.Addr }),
		render.Num("generation", func(s *sockLife) int64 { return int64(s.Gen) }),
		render.Text("command", func(s *sockLife) string {
			return engine.Command(f.in.Meta, fmt.Sprintf("sock 0x%x --gen %d", s.Addr, s.Gen))
		}).Text("COMMAND", 0))
	if a.Fits() && len(list) > pickScreen {
		list = list[:pickScreen]
	}
	for i := range list {
		t.Add(&list[i])
	}
	if n := all - int64(len(list)); n > 0 {
		a.Note(fmt.Sprintf("%s with fewer bytes left out; --all shows them", engine.Plural(n, "socket", "sockets")))
	}
}
