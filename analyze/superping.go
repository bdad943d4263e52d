package analyze

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "superping",
	Group:    groupSlow,
	Question: "what is the ICMP echo round trip seen by the kernel, without user-space scheduling delay?",
	Help: `One line per answered echo request of this host: the time from when the packet enters the
device's queue until the reply arrives from a device. Then one line per host: requests,
lost requests (including those that never reached a device, because ARP or neighbour
discovery had no answer), late and duplicate answers, and round trips.
--ping-log reads the output of ping for the same time. It adds what ping measured and how
much longer that is: the time spent in ping's own process.
The original matches by identifier and sequence number only, so it mixes up hosts or
address families that use the same ones; --compat does the same.
Requests from other hosts, which this one answers, are not shown.`,
	Example: "superping --addr 10.0.0.1",
	Options: []engine.Option{{Name: "ping-log", Kind: engine.Text, Doc: "output of ping, to compare with"}, windowOption,
		engine.Compat("by identifier and sequence number only")},
	New: newSuperping,
})

// echo is what tells echo requests apart.
type echo struct {
	family        string
	netns         int64
	local, remote string
	id, seq       int64
}

type superping struct {
	in     *engine.Input
	t      *render.List[answeredPing]
	open   agg.Spans[echo]
	bare   agg.Spans[echo] // by the original's rule
	done   map[echo]uint64 // answered, by which packet
	names  agg.Intern
	hosts  agg.Keyed[shape.Text, echoHost]
	rtt    agg.Stats
	log    *pingLog
	window int64 // ns, 0 for none
	compat bool

	twice, differ, sent, late, unsent, unknown int64

	IcmpType, IcmpId, IcmpSeq, Netns, Skb                          scan.Int
	Family, Dir, Saddr, Daddr, Dev, DropReason, Location, Protocol scan.Str
}

func newSuperping(in *engine.Input) engine.Fold {
	f := &superping{in: in, done: map[echo]uint64{}, compat: in.Flag("compat"), window: int64(in.Number("window")) * 1e9}
	in.Bind(f)
	if path := in.Text("ping-log"); path != "" {
		f.log = newPingLog(path)
	}
	in.On("icmp_echo", f.row)
	in.OnLoss([]string{"icmp_echo"}, f.forget)
	if !f.compat {
		in.Sockets("")
		in.Use("sock_io", "", nil) // whose socket it is
		in.Use("skb_drop", "requests to a neighbour that does not answer are not counted", f.dropped)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "echoes", Look: render.Lines}, f.fields()...)
	return f
}

// Types of ICMP messages.
const (
	echoRequest4, echoReply4 = 8, 0
	echoRequest6, echoReply6 = 128, 129
)

func (f *superping) row(r *engine.Row) {
	kind, send := r.Int(f.IcmpType), r.Str(f.Dir) == "send"
	k := echo{f.names.Get(r.Str(f.Family)), r.Int(f.Netns), f.names.Get(r.Str(f.Saddr)), f.names.Get(r.Str(f.Daddr)), r.Int(f.IcmpId), r.Int(f.IcmpSeq)}
	if send && (kind == echoRequest4 || kind == echoRequest6) {
		f.request(r, k)
	} else if !send && (kind == echoReply4 || kind == echoReply6) {
		k.local, k.remote = k.remote, k.local
		f.reply(r, k)
	}
}

// request starts a round trip. A packet may pass several devices one after another: the
// first counts.
func (f *superping) request(r *engine.Row, k echo) {
	if began, open := f.open.Open(k); open && r.TS-began < 100e6 {
		return
	}
	f.sent++
	f.host(k).sent++
	f.open.Begin(k, r.TS)
	f.bare.Begin(echo{id: k.id, seq: k.seq}, r.TS)
	delete(f.done, k)
}

func (f *superping) reply(r *engine.Row, k echo) {
	began, ok := f.open.End(k)
	original, bare := f.bare.End(echo{id: k.id, seq: k.seq})
	if ok != bare || began != original {
		f.differ++
	}
	if by, answered := f.done[k]; !ok && answered && by != r.Uint(f.Skb) {
		f.twice++
		f.host(k).twice++
	}
	if ok {
		if len(f.done) >= agg.MaxFlows {
			clear(f.done)
		}
		f.done[k] = r.Uint(f.Skb)
	}
	if f.compat {
		began, ok = original, bare
	} else if ok && f.window > 0 && r.TS-began > f.window {
		f.late++
		f.host(k).late++
		return
	}
	if ok {
		f.line(r, k, r.TS-began)
	}
}

// maxPings is how many lines of a log are kept.
const maxPings = 1 << 20

// pingLog is what ping printed about its requests.
type pingLog struct {
	err   error
	path  string
	pings map[pinged][]int64 // us, in their order
	more  agg.Stats          // by how much ping's own figures are higher
}

type pinged struct {
	seq  int64
	addr string
}

// pingLine matches a reply: an address, perhaps after a name, the number and the time.
var pingLine = regexp.MustCompile(`from (?:\S+ \()?([0-9a-fA-F:.]+?)(?:%\w+)?\)?:? icmp_seq=(\d+) .*time=([0-9.]+) ms`)

func newPingLog(path string) *pingLog {
	l := &pingLog{path: path, pings: map[pinged][]int64{}}
	file, err := os.Open(path)
	if err != nil {
		l.err = err
		return l
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for n := 0; s.Scan() && n < maxPings; n++ {
		m := pingLine.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		seq, _ := strconv.ParseInt(m[2], 10, 64)
		if us, err := strconv.ParseFloat(m[3], 64); err == nil {
			k := pinged{seq, strings.TrimSuffix(m[1], ":")}
			l.pings[k] = append(l.pings[k], int64(us*1000+0.5))
		}
	}
	l.err = s.Err()
	return l
}

// take is what ping said of a reply, microseconds; each line of the log is used once.
func (l *pingLog) take(seq int64, addr string) (int64, bool) {
	k := pinged{seq, addr}
	us := l.pings[k]
	if len(us) == 0 {
		return 0, false
	}
	l.pings[k] = us[1:]
	return us[0], true
}

func (l *pingLog) finish(a *render.Answer) {
	switch {
	case l == nil:
	case l.err != nil:
		a.Note(fmt.Sprintf("no comparison with ping: %v", l.err))
	case l.more.Count > 0:
		a.Note(fmt.Sprintf("ping itself measured %s us more on average, from %s to %s us more", engine.Thousands(l.more.Average()), engine.Thousands(l.more.Min), engine.Thousands(l.more.Max)))
	default:
		a.Note("no line of the ping log matches an echo of this recording")
	}
}
