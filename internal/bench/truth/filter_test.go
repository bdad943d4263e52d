package truth

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// Ports of the exchanges.
const (
	loTCP4, loTCP6, mapped, ownTCP4, ownTCP6 = 4701, 4702, 4703, 4704, 4705
	loUDP4, loUDP6, linkTCP4, linkUDP4       = 4706, 4707, 4708, 4709
	manyTCP4, manyTCP6                       = 4710, 4711
)

const (
	rightUID = 42_421
	pings    = 5
)

// exchanges has every pair of families, users and devices; all counts are odd and those
// that could be mixed up are different.
func exchanges() []exchange {
	at := func(addr string, port uint16) netip.AddrPort {
		return netip.AddrPortFrom(netip.MustParseAddr(addr), port)
	}
	return []exchange{
		{Net: "tcp", Addr: at("127.0.0.1", loTCP4), Msgs: 5, Server: "nr-right", Client: "nr-left"},
		{Net: "tcp", Addr: at("::1", loTCP6), Msgs: 7, Server: "nr-right", Client: "nr-left"},
		{Net: "tcp", Addr: at("127.0.7.1", mapped), Mapped: true, Msgs: 3, Server: "nr-left", Client: "nr-right"},
		{Net: "tcp", Addr: at("127.0.7.2", ownTCP4), Msgs: 9, Server: "nr-left", Client: "nr-left"},
		{Net: "tcp", Addr: at("::1", ownTCP6), Msgs: 11, Server: "nr-right", Client: "nr-right"},
		{Net: "udp", Addr: at("127.0.0.1", loUDP4), Msgs: 13, Server: "nr-right", Client: "nr-left"},
		{Net: "udp", Addr: at("::1", loUDP6), Msgs: 15, Server: "nr-left", Client: "nr-right"},
		{Net: "tcp", Addr: at("10.77.0.2", linkTCP4), Msgs: 7, Server: "nr-far", Client: "nr-left"},
		{Net: "udp", Addr: at("10.77.0.2", linkUDP4), Msgs: 5, Server: "nr-far", Client: "nr-right"},
		{Net: "tcp", Addr: at("10.77.0.2", manyTCP4), Conns: 31, Msgs: 1, Server: "nr-far", Client: "nr-left"},
		{Net: "tcp", Addr: at("fd77::2", manyTCP6), Conns: 17, Msgs: 1, Server: "nr-far", Client: "nr-right"},
	}
}

// filterEvents are at least one event of each kind that docs/filters.md has, whose rows tell
// what they were judged by; and packets.
var filterEvents = []string{"tcp_state", "sock_io", "sys_connect", "sys_accept", "sys_close", "sys_bind", "sys_listen",
	"tcp_syn_arrive", "udp_msg", "icmp_echo", "dev_queue", "dev_recv"}

// filterCase is one filter: arguments for the recorder, and which rows of a recording
// without it must be there. The rest must not.
type filterCase struct {
	name  string
	args  func(p *play) []string
	want  func(p *play, r *Row) bool
	check func(t *testing.T, p *play, got *Capture)
	netns string // recorded in place of the first
	words bool   // for the kernel much the same as another case: not in guests, where each takes long
}

// play is one performance and the recording without filters.
type play struct {
	stage
	pids     map[int64]string
	byPort   map[int64]exchange
	from, to int64
	all      *Capture
}

var onlyCases = flag.String("filters", "", "of TestFilters only these cases, separated by commas")

// TestFilters records the same traffic with each filter and without any, at the same
// time, and wants of each row that it is where it belongs.
func TestFilters(t *testing.T) {
	tools := needTools(t, "that filters keep what they name and nothing else")
	s := newStage(t)
	cases := slices.DeleteFunc(filterCases(s), func(c filterCase) bool {
		if *onlyCases != "" {
			return !slices.Contains(strings.Split(*onlyCases, ","), c.name)
		}
		return c.words && os.Getenv(guestEnv) != ""
	})
	const atOnce = 6 // recorders: each of them costs all events of the others a little time
	for len(cases) > 0 {
		n := min(atOnce, len(cases))
		perform(t, tools, s, cases[:n])
		cases = cases[n:]
	}
}

// perform records one performance with all cases and judges the recordings.
func perform(t *testing.T, tools string, s stage, cases []filterCase) {
	dir := t.TempDir()
	p := &play{stage: s, byPort: map[int64]exchange{}}
	parts := []part{{Name: "nr-far", Netns: s.b, Cgroup: s.left}, {Name: "nr-left", Netns: s.a, Cgroup: s.left, Pings: pings},
		{Name: "nr-right", Netns: s.a, Cgroup: s.right, UID: rightUID}}
	for _, x := range exchanges() {
		p.byPort[int64(x.Addr.Port())] = x
		for i := range parts {
			if parts[i].Name == x.Server {
				parts[i].Serve = append(parts[i].Serve, x)
			}
			if parts[i].Name == x.Client {
				parts[i].Connect = append(parts[i].Connect, x)
			}
		}
	}
	tr := enter(t, parts)
	p.pids = tr.pids
	recorders := []*filtered{startFiltered(t, tools, filepath.Join(dir, "all"), s.a, nil)}
	for i, c := range cases {
		ns := s.a
		if c.netns != "" {
			ns = c.netns
		}
		recorders = append(recorders, startFiltered(t, tools, filepath.Join(dir, strconv.Itoa(i)), ns, c.args(p)))
		if i > 0 { // two start at the same time
			recorders[i].ready(t)
		}
	}
	for _, r := range recorders {
		r.ready(t)
	}
	p.from = monotonic()
	tr.play(t)
	p.to = monotonic()
	for _, r := range recorders {
		r.end(t)
	}
	p.all = recorders[0].load(t)
	p.complete(t)
	p.grouped(t, parts)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) { p.judge(t, c, recorders[i+1].load(t)) })
	}
}

// grouped wants the calls of every actor in the cgroup that it is in.
func (p *play) grouped(t *testing.T, parts []part) {
	for _, part := range parts {
		_, below, _ := strings.Cut(part.Cgroup, filepath.Dir(p.group))
		calls, others := 0, map[string]int{}
		for i := range p.all.Rows {
			r := &p.all.Rows[i]
			if r.Str["ctx"] != "task" || p.pids[r.Int["pid"]] != part.Name || !p.during(r) {
				continue
			}
			if calls++; r.Str["cgroup"] != below {
				others[r.Event+" "+r.Str["cgroup"]]++
			}
		}
		if len(others) > 0 || calls == 0 && part.Netns == p.a {
			t.Errorf("%d calls of %s, in other cgroups than %s: %v", calls, part.Name, below, others)
		}
	}
}

// filtered is a recorder at work.
type filtered struct{ *rig.Recorder }

func startFiltered(t *testing.T, tools, path, netns string, args []string) *filtered {
	t.Helper()
	r, err := rig.Start(tools+"/netrec", path+".parquet", append([]string{"--netns", netns,
		"--buffer", "8M", "-t", longest, "-e", strings.Join(filterEvents, ",")}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return &filtered{r}
}

func (f *filtered) ready(t *testing.T) {
	t.Helper()
	if err := f.Ready(); err != nil {
		t.Fatal(err)
	}
}

func (f *filtered) end(t *testing.T) {
	t.Helper()
	if _, code, err := f.End(syscall.SIGINT); err != nil || code != 0 && code != 4 { // losses, see judge
		t.Fatalf("record: exit code %d, %v\n%s", code, err, f.Said())
	}
}

func (f *filtered) load(t *testing.T) *Capture {
	t.Helper()
	c, err := Load(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// complete: every send and receive of the actors is in the recording without filters.
func (p *play) complete(t *testing.T) {
	t.Helper()
	want, got := 0, 0
	for _, x := range p.byPort {
		want += max(1, x.Conns) * 2 * x.Msgs // of the client
		switch {
		case x.Server == "nr-far":
		case x.Net == "udp":
			want += 2 * x.Msgs
		default:
			want += max(1, x.Conns) * (2*x.Msgs + 1) // the last read finds the end
		}
	}
	rows := p.all.Select("sock_io", p.during, ended)
	for _, r := range rows {
		if p.owner(&r) != "" || r.Str["protocol"] == "udp" {
			got++
		}
	}
	if lost := lostRows(p.all, "sock_io"); got > want || got+lost < want {
		t.Errorf("%d sends and receives without filters and %d lost, want %d: %v", got, lost, want, byCall(rows))
	}
}

// ended leaves out calls that a signal interrupted: the kernel starts those anew, and the
// program does not hear of it.
func ended(r *Row) bool {
	const restart = -512 // ERESTARTSYS
	return r.Int["ret"] != restart
}

// byCall counts sends and receives by what tells them apart.
func byCall(rows []Row) map[string]int {
	n := map[string]int{}
	for _, r := range rows {
		n[fmt.Sprintf("%s %s %d-%d ret %d of %s", r.Str["prot_name"], r.Str["dir"], r.Int["lport"], r.Int["rport"], r.Int["ret"], r.Str["comm"])]++
	}
	return n
}

// judge compares row by row. Times differ, as each recorder has its own; what is the same
// is the event, the thread, its context, the socket and the ports.
func (p *play) judge(t *testing.T, c filterCase, got *Capture) {
	balance := map[string]int{}
	wanted, unwanted := map[string]int{}, map[string]int{}
	if c.want != nil {
		first := firstExits()
		for i := range p.all.Rows {
			r := &p.all.Rows[i]
			switch {
			case !p.during(r) || !judgeable(r) || !first(r):
			case c.want(p, r):
				balance[rowKey(r)]++
				wanted[r.Event]++
			default:
				unwanted[r.Event]++
			}
		}
		first = firstExits()
		for i := range got.Rows {
			if r := &got.Rows[i]; p.during(r) && judgeable(r) && first(r) {
				balance[rowKey(r)]--
			}
		}
		if len(wanted) == 0 || len(unwanted) == 0 {
			t.Errorf("proves nothing: wanted %v, unwanted %v", wanted, unwanted)
		}
	}
	for key, n := range balance {
		event, _, _ := strings.Cut(key, " ")
		if lost := lostRows(p.all, event) + lostRows(got, event); n > lost || -n > lost {
			t.Errorf("%+d rows of %s, %d lost", -n, key, lost)
		}
	}
	if c.check != nil {
		c.check(t, p, got)
	}
	t.Logf("wanted %v, unwanted %v", wanted, unwanted)
}

// during leaves out what the kernel and the actors' starts do besides.
func (p *play) during(r *Row) bool { return r.TS >= p.from && r.TS <= p.to }

// judgeable rows are those of sockets and calls; what a packet of a device is is not in
// its row, so those are counted by the checks of the cases.
func judgeable(r *Row) bool {
	return r.Event != "dev_queue" && r.Event != "dev_recv" && r.Event != "meta" && r.Event != "cost" && r.Event != "lost"
}

// exits reports the row of a process's end.
func exits(r *Row) bool { return r.Event == "sys_close" && r.Str["func"] == "exit" }

// firstExits reports each row but the further ones of a process's end: kernels before 6.16 do not say which thread
// is the last, so that two that end at the same moment may both be taken for it, by one recorder and not by another.
func firstExits() func(*Row) bool {
	seen := map[int64]bool{}
	return func(r *Row) bool {
		if !exits(r) {
			return true
		}
		again := seen[r.Int["pid"]]
		seen[r.Int["pid"]] = true
		return !again
	}
}

func rowKey(r *Row) string {
	task := r.Int["tid"]
	if exits(r) {
		task = r.Int["pid"]
	}
	return fmt.Sprint(r.Event, " ", r.Str["ctx"], " of ", r.Str["comm"], "/", task, " sock ", uint64(r.Int["sock"]), " ", r.Int["lport"], "-",
		r.Int["rport"], " ", r.Str["func"], r.Str["new_state"], r.Str["dir"])
}

func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
