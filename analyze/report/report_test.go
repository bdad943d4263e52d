package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

func parse(t *testing.T, meta, events string) *eventtext.Source {
	t.Helper()
	src, err := eventtext.Parse(meta, events)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func pageOf(t *testing.T, src scan.Source) (*Page, string) {
	t.Helper()
	p, err := readAll([]scan.Source{src}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.String()
}

const attack = `</script><script>pwned=1</script><img src=x onerror=pwned=2>"'` + "`${pwned=3}`<!--\u2028\u202e\x1b]0;"

// hostile is a recording in which every string is an attack.
func hostile(t *testing.T) *eventtext.Source {
	q := fmt.Sprintf("%q", attack)
	meta, err := json.Marshal(map[string]any{"Path": "<b>" + attack, "Host": map[string]any{"name": attack, "kernel": attack, "machine": attack},
		"Recording": map[string]any{"end": attack, "command": []string{attack}, "filters": map[string]string{attack: attack}}})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(meta), strings.ReplaceAll(`
+1s sys_connect sock=0xffff888000001000 pid=10 comm=X ret=-111 dur_ns=1000 family=inet sock_type=stream protocol=tcp dest_addr=X dest_port=443
+1.1s skb_drop sock=0xffff888000001000 pid=10 comm=X drop_reason=X location=X kstack=X *9
+1.2s dns_call pid=10 comm=X host=X dur_ns=900000000 ret=0
+1.3s tcp_rcv_est sock=0xffff888000001000 comm=X snd_cwnd=10 snd_wnd=0 rcv_wnd=5
+1.4s tcp_rcv_est sock=0xffff888000001000 comm=X snd_cwnd=12 snd_wnd=0 rcv_wnd=5
+1.5s tcp_retrans sock=0xffff888000001000 comm=X retrans_kind=R state=X snd_cwnd=1 *9
+1.6s tcp_state sock=0xffff888000001000 old_state=X new_state=X protocol=X laddr=X raddr=X lport=1 rport=2
+2s qdisc_enq skb=0xffff888100000000+0x100 qdisc=0xffff888200000000 qdisc_kind=X dev=X *12
+3s qdisc_deq skb=0xffff888100000000+0x100 qdisc=0xffff888200000000 qdisc_kind=X dev=X packets=1 *12
`, "=X", "="+q))
}

// What a recording says ends up as text: no markup of it reaches the page.
func TestEscapes(t *testing.T) {
	_, page := pageOf(t, hostile(t))
	for _, raw := range []string{"<script>pwned", "<img", "<!--", "\u2028", "\u202e", "\x1b"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page has %q of the recording", raw)
		}
	}
	if n := strings.Count(page, "<script"); n != 3 {
		t.Errorf("%d scripts, want data, uPlot and ours", n)
	}
	if !strings.Contains(page, `Content-Security-Policy" content="default-src &#39;none&#39;`) {
		t.Error("no Content-Security-Policy")
	}
	for _, out := range []string{`="http`, "url(", "@import", "//cdn"} {
		if strings.Contains(page, out) {
			t.Errorf("the page refers to something elsewhere: %s", out)
		}
	}
}

// Histograms of the page are those of the command that each chart names.
func TestHistogramsAgreeWithCommands(t *testing.T) {
	src := sampleFile(t)
	p, _ := pageOf(t, src)
	for _, h := range p.Heats {
		if h.table == "lookups" { // the command lists them one by one
			if n := src.Meta().Rows["dns_call"]; h.Count != n {
				t.Errorf("%s: %d values of %d lookups", h.ID, h.Count, n)
			}
			continue
		}
		want := histogram(t, src, h.Command, h.table)
		got := map[int64]int64{}
		for i, n := range h.Rows {
			if n > 0 {
				got[low(h.Low+i)] = n
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the page has %v, %s says %v", h.ID, got, h.Command, want)
		}
		sum := int64(0)
		for i := 2; i < len(h.Cells); i += 3 {
			sum += h.Cells[i]
		}
		if sum != h.Count {
			t.Errorf("%s: %d values in the heat map, %d in all", h.ID, sum, h.Count)
		}
	}
}

// The lines over time add up to what the command that they name says; those of all events do
// not have the lost ones, which are among what went wrong.
func TestLinesAgreeWithCommands(t *testing.T) {
	src := sampleFile(t)
	p, _ := pageOf(t, src)
	for _, c := range []struct {
		args, only string
		lines      []Series
	}{{"eventrates", "", p.Data.Events}, {"eventrates", "skb_drop", p.Data.Drops}, {"eventrates --of wrong", "", p.Data.Trouble}} {
		want, got := 0.0, 0.0
		for _, row := range rows(t, src, c.args, "rates") {
			if c.only == "" && (c.args != "eventrates" || row["event"] != "lost") || row["event"] == c.only {
				want += row["count"].(float64)
			}
		}
		for _, l := range c.lines {
			for _, v := range l.Values {
				got += float64(v)
			}
		}
		if got != want || want == 0 {
			t.Errorf("%s %s: %v in the page, %v in the answer", c.args, c.only, got, want)
		}
	}
}

// Bars and slowest turns are those of the command under them, and every turn leads to its socket.
func TestWaitsAgreeWithCommand(t *testing.T) {
	src := sampleFile(t)
	p, _ := pageOf(t, src)
	lines := rows(t, src, "waits", "waits")
	if p.Waits == nil || len(p.Waits.Services) > shownServices || len(p.Waits.Slowest) > shownTurns || len(p.Waits.Services)+p.Waits.More != len(lines) {
		t.Fatalf("%+v for %d lines", p.Waits, len(lines))
	}
	for i, s := range p.Waits.Services {
		sum, share := 0.0, 0.0
		for _, part := range s.Parts {
			if got := lines[i][strings.ReplaceAll(part.Wait.String(), " ", "_")+"_ns"]; got != part.Ns {
				t.Errorf("%s: %s for %v in the page, %v in the answer", s.Name, part.Wait, part.Ns, got)
			}
			sum, share = sum+part.Ns, share+part.Share
		}
		if lines[i]["service"] != s.Name || lines[i]["turns"] != float64(s.Turns) || sum != s.Busy || math.Abs(share-1) > 1e-9 {
			t.Errorf("%+v in the page, %v in the answer", s, lines[i])
		}
	}
	slow := rows(t, src, "waits --slowest", "slowest")
	for i, turn := range p.Waits.Slowest {
		if math.Abs(slow[i]["turn_ms"].(float64)*1e6-turn.Took) > 1000 || slow[i]["service"] != turn.Service || turn.Socket < 0 || !strings.Contains(p.Data.Sockets[turn.Socket].Cmd, fmt.Sprintf("0x%x", turn.Sock)) {
			t.Errorf("%+v in the page, %v in the answer", turn, slow[i])
		}
	}
	if len(slow) != len(p.Waits.Slowest) || len(slow) == 0 {
		t.Errorf("%d turns in the page, %d in the answer", len(p.Waits.Slowest), len(slow))
	}
}

// low is the least value of a row.
func low(row int) int64 {
	if row == 0 {
		return 0
	}
	return 1 << (row - 1)
}

// histogram is what a command says, by lower bound.
func histogram(t *testing.T, src scan.Source, args, table string) map[int64]int64 {
	t.Helper()
	counts := map[int64]int64{}
	for _, r := range rows(t, src, args, table) {
		if n, _ := r["count"].(float64); n > 0 {
			low, _ := r["low"].(float64)
			counts[int64(low)] += int64(n)
		}
	}
	return counts
}

// rows are those of a table of the answer to a command.
func rows(t *testing.T, src scan.Source, args, table string) []map[string]any {
	t.Helper()
	req, err := engine.Parse(analyze.All(), nil, append([]string{"FILE"}, strings.Fields(args)...))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out, err := render.NewOutput("json", render.Bpftrace, &b, &b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(src, req.Calls, engine.Selection{}, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []map[string]any
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &said); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, tab := range said.Answers[0].Tables {
		if tab.Name == table {
			all = append(all, tab.Rows...)
		}
	}
	return all
}

// A page is small whatever there is to show, and the sockets that matter keep their
// stories however many others there are.
func TestBounds(t *testing.T) {
	var b strings.Builder
	long := strings.Repeat("é<& ", 150)
	for i := range 3000 {
		addr, at := 0xffff888000000000+uint64(i)<<12, fmt.Sprintf("+%dus", 1000+i*100)
		fmt.Fprintf(&b, "%s tcp_state sock=%#x pid=%d comm=%s old_state=CLOSE new_state=SYN_SENT conn=10.0.0.1:%d>10.0.0.2:443 protocol=tcp\n", at, addr, i+1, "\""+long+"\"", 1024+i)
		fmt.Fprintf(&b, "%s sock_io sock=%#x pid=%d comm=c dir=send ret=%d *%d\n", at, addr, i+1, i+1, 1+i%7)
		fmt.Fprintf(&b, "%s skb_drop sock=%#x drop_reason=\"%s %d\" location=\"%s\" kstack=\"%s\"\n", at, addr, long, i, long, strings.Repeat(long+";", 3))
		if i%2 == 0 {
			fmt.Fprintf(&b, "+%dus tcp_state sock=%#x old_state=SYN_SENT new_state=CLOSE conn=10.0.0.1:%d>10.0.0.2:443 protocol=tcp\n", 1050+i*100, addr, 1024+i)
		}
	}
	// The first is quiet while the others come and go, and then sends most of all.
	for i := range 3000 {
		fmt.Fprintf(&b, "+%dms tcp_rcv_est sock=0xffff888000000000 ctx=softirq snd_cwnd=%d snd_ssthresh=2147483647 sk_sndbuf=1000 snd_wnd=1 rcv_wnd=1\n", 1000+i, 10+i%50)
		fmt.Fprintf(&b, "+%dms tcp_retrans sock=0xffff888000000000 ctx=softirq snd_cwnd=5 retrans_kind=R\n", 1000+i)
	}
	fmt.Fprintf(&b, "+5s sock_io sock=0xffff888000000000 pid=1 comm=c dir=send ret=1000000\n")
	p, page := pageOf(t, parse(t, "", b.String()))
	if len(page) > 5<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if len(p.Busiest) != shownSockets || len(p.Worst) != shownSockets || p.Sockets != 3000 {
		t.Fatalf("%d busiest and %d worst of %d sockets", len(p.Busiest), len(p.Worst), p.Sockets)
	}
	first := p.Busiest[0]
	if first.Tx != 1000001 || p.Worst[0] != first || first.Retrans != 3000 || len(first.Story) != 2*taleLines {
		t.Errorf("the busiest socket sent %d, %d again, with %d lines of story", first.Tx, first.Retrans, len(first.Story))
	}
	c := first.Course
	if c == nil || len(c.X) > courseRoom || len(c.Marks) != shownMarks || c.Unmarked != 3000-shownMarks {
		t.Fatalf("course of the busiest socket: %+v", c)
	}
	least, most := c.Low[0], c.High[0]
	for i := range c.X {
		least, most = min(least, c.Low[i]), max(most, c.High[i])
	}
	if least != 10 || most != 59 {
		t.Errorf("windows from %d to %d, want the extremes 10 and 59", least, most)
	}
	told := 0
	for _, s := range p.Data.Sockets {
		if len(s.Story) > 0 {
			told++
		}
	}
	if told < shownSockets {
		t.Errorf("%d of %d sockets have a story", told, len(p.Data.Sockets))
	}
}

// Where there is nothing to draw the page says why.
func TestSaysWhyNothingIsThere(t *testing.T) {
	meta := `{"Recording": {"start_ns": 1772373120000000000, "events": ["tcp_state", "skb_drop", "sys_connect", "sock_io"]}}`
	_, page := pageOf(t, parse(t, meta, "+1ms tcp_state sock=0x10 old_state=CLOSE new_state=LISTEN laddr=10.0.0.1 lport=80"))
	for _, want := range []string{"Nothing looks wrong, as far as ", " rules can tell", "No packet was dropped", "event tcp_rcv_est was not recorded",
		"event qdisc_enq was not recorded", "none of this kind happened", "Nothing was retransmitted", "no rows of event cost", "No event was lost"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, no := range []string{"Where the time went", `href="#waits"`} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q, and no time to tell about", no)
		}
	}
	_, page = pageOf(t, parse(t, `{"Recording": {"start_ns": 1772373120000000000, "events": ["tcp_state"]}}`, ""))
	for _, want := range []string{"No event was recorded", "event sock_io was not recorded", "no rows of any process", "no rows of any socket"} {
		if !strings.Contains(page, want) || strings.Contains(page, `data-chart="events"`) {
			t.Errorf("the page of nothing does not say %q", want)
		}
	}
}

// Charts of a part of the recording span that part.
func TestSelectedTime(t *testing.T) {
	src := parse(t, `{"Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373220000000000}}`, `
+10s tcp_retrans sock=0x10 snd_cwnd=5 retrans_kind=R
+60s tcp_retrans sock=0x10 snd_cwnd=5 retrans_kind=R *3
+90s tcp_retrans sock=0x10 snd_cwnd=5 retrans_kind=R`)
	sel, err := engine.NewSelection(src.Meta(), map[string]string{"from": "50s", "to": "74s"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(src, Options{Selection: sel}, "", axis{})
	if err != nil {
		t.Fatal(err)
	}
	resent := p.Data.Trouble[0].Values
	if p.Data.Begin != 50 || p.Data.Seconds != 0.05 || p.Each != "50ms" || resent[200] != 3 {
		t.Errorf("from %g s, %g s a column, %v", p.Data.Begin, p.Data.Seconds, resent)
	}
}

// What a finding is about has its story, also if worse and busier sockets fill the tables.
func TestFindingsHaveStories(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		addr, at := 0xffff888000000000+uint64(i)<<12, fmt.Sprintf("+%dus", 1000+i*500)
		fmt.Fprintf(&b, "%s tcp_state sock=%#x pid=%d comm=c old_state=CLOSE new_state=SYN_SENT conn=10.0.0.1:%d>10.0.0.2:443 protocol=tcp\n", at, addr, i+1, 1024+i)
		fmt.Fprintf(&b, "%s sock_io sock=%#x pid=%d comm=c dir=send ret=1000 *4\n", at, addr, i+1)
		if i == 77 {
			fmt.Fprintf(&b, "+300ms tcp_rcv_est sock=%#x ctx=softirq snd_cwnd=7 snd_wnd=1 rcv_wnd=1\n", addr)
			fmt.Fprintf(&b, "+900ms tcp_rcv_est sock=%#x ctx=softirq snd_cwnd=7 snd_wnd=0 rcv_wnd=1\n", addr)
			continue
		}
		fmt.Fprintf(&b, "%s skb_drop sock=%#x drop_reason=TCP_OLD_DATA *3\n", at, addr)
	}
	p, _ := pageOf(t, parse(t, "", b.String()))
	for _, f := range p.Findings {
		if f.Rule.Name != "zero-window" {
			continue
		}
		if f.Socket < 0 || !strings.Contains(p.Data.Sockets[f.Socket].Name, ":1101 > ") || len(p.Data.Sockets[f.Socket].Story) == 0 {
			t.Errorf("the finding is about socket %d of %d", f.Socket, len(p.Data.Sockets))
		}
		if p.Data.Sockets[f.Socket].Index < len(p.Worst) {
			t.Errorf("the socket is among the worst, which proves nothing")
		}
		return
	}
	t.Errorf("no finding about the window in %+v", p.Findings)
}
