package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"netrec/analyze/engine/eventtext"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// numbers is a table of one column.
func numbers(in *Input, s render.Spec) *render.List[int64] {
	return render.ListOf(in.Table, s, render.Num("n", func(n *int64) int64 { return *n }).Text("N", 0))
}

// counter is an analysis that counts the rows of an event and shows one line.
func counter(name, event string) *Analysis {
	return &Analysis{Name: name, Question: "how many?", Options: []Option{{Name: "double", Kind: Flag}}, New: func(in *Input) Fold {
		n := int64(0)
		comm := in.Str("comm")
		in.Sockets("")
		in.On(event, func(r *Row) {
			if n++; in.Flag("double") {
				n++
			}
			_ = r.Str(comm)
		})
		t := numbers(in, render.Spec{Name: "n"})
		return FoldFunc(func(*render.Answer) {
			if n > 0 {
				t.Line(n)
			}
		})
	}}
}

// scans counts how often a source is read.
type scans struct {
	*eventtext.Source
	n       int
	queries []scan.Query
}

func (s *scans) Scan(q scan.Query, f func(*scan.Row) error) error {
	s.n++
	s.queries = append(s.queries, q)
	return s.Source.Scan(q, f)
}

const twoProcesses = `
+1ms tcp_state sock=0xffff888000001000 pid=7 comm=curl cgroup=/a old_state=CLOSE new_state=SYN_SENT conn=10.0.0.1:40000>10.0.0.2:443
+2ms tcp_rcv_est sock=0xffff888000001000 ctx=softirq pid=31 comm=other
+3ms tcp_state sock=0xffff888000002000 ctx=softirq pid=31 comm=other old_state=LISTEN new_state=SYN_RECV conn=10.0.0.1:0>0.0.0.0:0
+4ms tcp_rcv_est sock=0xffff888000002000 ctx=softirq pid=31 comm=other
+5ms sys_accept sock=0xffff888000002000 pid=80 comm=nginx cgroup=/b ret=5 conn=10.0.0.1:80>[2001:db8::7]:5555
+6ms tcp_rcv_est sock=0xffff888000002000 ctx=softirq pid=7 comm=curl cgroup=/a
+7ms dns_call pid=7 comm=curl host=x dur_ns=1
`

func parse(t *testing.T, meta, events string) *scans {
	t.Helper()
	src, err := eventtext.Parse(meta, events)
	if err != nil {
		t.Fatal(err)
	}
	return &scans{Source: src}
}

func run1(t *testing.T, src scan.Source, opt map[string]string, calls ...Call) (string, []Outcome) {
	t.Helper()
	sel, err := NewSelection(src.Meta(), opt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out, err := render.NewOutput("text", render.Bpftrace, &b, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	oc, err := Run(src, calls, sel, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), oc
}

func TestOnePassForAll(t *testing.T) {
	src := parse(t, "", twoProcesses)
	got, oc := run1(t, src, nil, Call{Analysis: counter("a", "tcp_rcv_est")}, Call{Analysis: counter("b", "dns_call"), Options: map[string]string{"double": "true"}})
	if src.n != 1 {
		t.Errorf("%d scans, want 1", src.n)
	}
	if !strings.Contains(got, "N\n3\n") || !strings.Contains(got, "N\n2\n") || len(oc) != 2 || oc[0].Rows != 1 {
		t.Errorf("got %s, %+v", got, oc)
	}
	for _, c := range src.queries[0].Columns {
		if c == 0 {
			t.Error("a column was read that nobody asked for")
		}
	}
}

func TestSelectionThroughSockets(t *testing.T) {
	tests := []struct {
		opt  map[string]string
		want string
	}{
		{map[string]string{"pid": "7"}, "1"},  // softirq row of curl's socket, not the one that interrupted curl
		{map[string]string{"pid": "80"}, "2"}, // also the row before accept
		{map[string]string{"comm": "nginx"}, "2"},
		{map[string]string{"port": "443"}, "1"}, // the row has no ports, its socket has
		{map[string]string{"port": "80"}, "2"},
		{map[string]string{"port": "80,443"}, "3"},
		{map[string]string{"addr": "2001:db8::/32"}, "2"},
		{map[string]string{"addr": "10.0.0.2"}, "1"},
		{map[string]string{"sock": "0xffff888000001000"}, "1"},
		{map[string]string{"from": "5500us"}, "1"},
		{map[string]string{"from": "5500us", "pid": "80"}, "1"}, // its owner is learnt from before
		{map[string]string{"to": "+3ms"}, "1"},
		{map[string]string{"from": "13:52:00", "to": "2026-03-01T13:52:00.005Z"}, "2"},
	}
	for _, tt := range tests {
		src := parse(t, "", twoProcesses)
		if got, _ := run1(t, src, tt.opt, Call{Analysis: counter("a", "tcp_rcv_est")}); !strings.HasSuffix(got, "N\n"+tt.want+"\n") {
			t.Errorf("%v: got %s, want %s", tt.opt, got, tt.want)
		}
	}
}

// TestHiddenContext: on kernels that hide what the CPU was doing, calls still belong to
// their task and the rest to the owner of the socket.
func TestHiddenContext(t *testing.T) {
	hidden := strings.ReplaceAll(strings.ReplaceAll(twoProcesses, " ctx=softirq", ""), " pid=", " ctx=unknown pid=")
	for pid, want := range map[string]string{"7": "N\n1\n", "80": "N\n2\n"} {
		if got, _ := run1(t, parse(t, "", hidden), map[string]string{"pid": pid}, Call{Analysis: counter("a", "tcp_rcv_est")}); !strings.HasSuffix(got, want) {
			t.Errorf("pid %s: %s", pid, got)
		}
	}
	if got, _ := run1(t, parse(t, "", hidden), map[string]string{"pid": "7"}, Call{Analysis: counter("a", "dns_call")}); !strings.HasSuffix(got, "N\n1\n") {
		t.Errorf("a call of pid 7: %s", got)
	}
}

func TestNoAnswerSaysWhy(t *testing.T) {
	tests := []struct {
		name, meta string
		opt        map[string]string
		event      string
		status     Status
		want       string
	}{
		{"not asked", `{"Hooks":[{"event":"skb_drop","state":"not asked"}]}`, nil, "skb_drop", NotRecorded, "--events"},
		{"missing", `{"Hooks":[{"event":"skb_drop","state":"missing","refused":[{"hook":"h","why":"no BTF"}]}]}`, nil, "skb_drop", HookMissing, "h: no BTF"},
		{"did not happen", "", nil, "skb_drop", Answered, "skb_drop was recorded and did not happen"},
		{"all lost", `{"Losses":[{"event":"skb_drop","generated":3,"lost_ring":3}]}`, nil, "skb_drop", Answered, "no skb_drop was recorded, but some may have happened"},
		{"selected none", "", map[string]string{"pid": "12345"}, "tcp_rcv_est", Answered, "leaves out all 3"},
	}
	for _, tt := range tests {
		got, oc := run1(t, parse(t, tt.meta, twoProcesses), tt.opt, Call{Analysis: counter("a", tt.event)})
		if oc[0].Status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: status %d, said %s", tt.name, oc[0].Status, got)
		}
	}
}

func TestLimits(t *testing.T) {
	meta := `{"Problems":["was killed"],"Losses":[{"event":"tcp_rcv_est","generated":1000000,"lost_ring":3},{"event":"tcp_rcv_est","cpu":1,"generated":2000000,"lost_scratch":1},{"event":"tcp_rcv_est","cpu":-1,"generated":2,"lost_nested":2},{"event":"dns_call","generated":5,"lost_ring":5}],
	 "Hooks":[{"event":"tcp_rcv_est","state":"attached","hooks":["kprobe:tcp_rcv_established"],"refused":[{"hook":"raw_tp:tcp_probe","why":"no skaddr"}]}],
	 "Recording":{"filters":{"port":"80","netns":"5"},"start_ns":1772373120000000000}}`
	got, _ := run1(t, parse(t, meta, twoProcesses), nil, Call{Analysis: counter("a", "tcp_rcv_est")})
	for _, want := range []string{"# a: was killed\n", "lost 6 of 3,000,002 tcp_rcv_est events (0.0002 %): ring full 3, too many calls in flight 1, interrupted probe, at most 2",
		"seen through kprobe:tcp_rcv_established (raw_tp:tcp_probe: no skaddr)", "recorded with filters: netns=5 port=80"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "dns_call") || strings.Contains(got, "exact") {
		t.Errorf("said of an event it does not use, or exact: %s", got)
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	for name, a := range map[string]*Analysis{
		"column": {Name: "x", New: func(in *Input) Fold { in.Int("snd_cwmd"); return nil }},
		"type":   {Name: "x", New: func(in *Input) Fold { in.Int("comm"); return nil }},
		"event":  {Name: "x", New: func(in *Input) Fold { in.On("tcp_stat", nil); return nil }},
		"option": {Name: "x", New: func(in *Input) Fold { in.Flag("nope"); return nil }},
	} {
		if _, _, err := Needs(a); err == nil {
			t.Errorf("unknown %s was accepted", name)
		}
	}
}

type closedPipe struct{ n int }

func (c *closedPipe) Write(p []byte) (int, error) { c.n++; return 0, errors.New("closed") }

func TestOutputErrorEndsTheScan(t *testing.T) {
	src := parse(t, "", "+1ms dns_call host=x *20000")
	rows := 0
	a := &Analysis{Name: "a", New: func(in *Input) Fold {
		tab := numbers(in, render.Spec{Look: render.CSV})
		in.On("dns_call", func(*Row) { rows++; tab.Line(1 << 40) })
		return FoldFunc(func(*render.Answer) {})
	}}
	out, err := render.NewOutput("csv", render.Bpftrace, &closedPipe{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(src, []Call{{Analysis: a}}, Selection{}, out); err == nil || rows > 10000 {
		t.Errorf("after %d rows: %v", rows, err)
	}
}

func TestTimeOfDay(t *testing.T) {
	m := &scan.Meta{FirstNS: time.Date(2026, 3, 1, 22, 59, 0, 0, time.UTC).UnixNano()}
	m.Host.Offset, m.LastNS = 3600, m.FirstNS+int64(2*time.Hour)
	got, err := parseTime(m, "00:30:00")
	if want := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC).UnixNano(); err != nil || got != want {
		t.Errorf("after midnight: %v, %v", time.Unix(0, got).UTC(), err)
	}
	if got, err = parseTime(m, "23:59:30"); err != nil || got != m.FirstNS+30e9 {
		t.Errorf("in the zone of the recording: %v, %v", time.Unix(0, got).UTC(), err)
	}
	if _, err := parseTime(m, "yesterday"); err == nil {
		t.Error("accepted a word")
	}
}

// A time as answers print it is one that --from takes.
func TestParseTimeAsPrinted(t *testing.T) {
	m := &scan.Meta{FirstNS: 1772373120_000000000, LastNS: 1772373130_000000000}
	for s, want := range map[string]int64{"1.395220": 1395220000, "1.395220 s": 1395220000, "2.856s": 2856000000, "0": 0, "7": 7e9, "+1m": 60e9, "1.395220123": 1395220123,
		"2026-03-01 13:52:05.250000": 5250000000, "2026-03-01T13:52:05.25Z": 5250000000, "1772373125000000001": 5000000001, "13:52:05": 5e9, "13:52:05.125": 5125000000, "795548us": 795548000} {
		if got, err := parseTime(m, s); err != nil || got-m.FirstNS != want {
			t.Errorf("%s: %d after the start, want %d, %v", s, got-m.FirstNS, want, err)
		}
	}
	var u *UsageError
	if _, err := parseTime(m, "795548"); !errors.As(err, &u) || u.Meant != "did you mean 795548us?" {
		t.Errorf("microseconds: %v", err)
	}
}
