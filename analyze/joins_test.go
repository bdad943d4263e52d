package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// joinCase is an analysis that joins rows. A row of its answer after losses must be one of
// the answer without, but for cells that are empty.
type joinCase struct {
	args  string
	like  map[string]string // tables whose rows are parts of rows of another
	parts []string          // columns that may be less: what is certain of a life, sums of what is there
	least []string          // the same, of tables that are like another: who connected is not known
	skip  []string          // columns that depend on how many others were seen
}

var joinCases = []joinCase{
	{args: "tcplife", like: map[string]string{"cut": "sessions"}, parts: []string{"ms", "life_ns"}, least: []string{"tx_bytes", "tx_kb"}},
	{args: "tcplife --unacked", like: map[string]string{"cut": "sessions"}, parts: []string{"ms", "life_ns"}, least: []string{"tx_bytes", "tx_kb"}},
	{args: "tcpstates"},
	{args: "tcpconnect"},
	{args: "tcpconnect-tp"},
	{args: "tcpaccept"},
	{args: "tcpaccept-tp"},
	{args: "socks --top 1000000", parts: []string{"tx_bytes", "rx_bytes", "ms", "rows", "retransmits"}, skip: []string{"state", "first_ns"}},
	{args: "solife", like: map[string]string{"open": "sessions"}, parts: []string{"tx_bytes", "rx_bytes", "ms", "life_ns"}},
	{args: "udplife", like: map[string]string{"cut": "sessions"}, parts: []string{"tx_bytes", "rx_bytes", "ms", "life_ns"}, skip: []string{"first_send_us", "first_recv_us"}},
	{args: "udpconnect --first"},
	{args: "so1stbyte --ttfb"},
	{args: "soconnlat --split"},
	{args: "qdisclat --path"},
	{args: "nettxlat"},
	{args: "skblife --stages"},
	{args: "sockbytes --by pid,comm,lport,rport", parts: []string{"count"}},
	{args: "netsize --by comm", parts: []string{"count"}},
	{args: "superping", parts: []string{"requests", "lost", "late", "duplicates"}, skip: []string{"min_us", "average_us", "max_us", "unknown", "pending"}},
}

// compatJoins are the rules of the originals. They join more wrongly than others, but not more
// where rows were lost.
var compatJoins = []joinCase{
	{args: "superping --compat"},
	{args: "tcplife --compat"},
	{args: "tcplife --compat=bcc"},
	{args: "tcpstates --compat"},
	{args: "tcpconnect --compat"},
	{args: "tcpaccept --compat"},
	{args: "soconnlat --compat"},
	{args: "so1stbyte --compat"},
	{args: "qdisclat --compat"},
	{args: "nettxlat --compat"},
	{args: "skblife --compat"},
	{args: "udplife --compat", parts: []string{"tx_bytes", "rx_bytes", "ms", "life_ns"}, skip: []string{"first_send_us", "first_recv_us"}},
	{args: "udpconnect --compat"},
}

// tapped is a value that went into a histogram.
type tapped struct {
	table     string
	ts, value int64
}

type joined struct {
	tables  map[string][]map[string]any
	samples map[tapped]int
}

// joinAll answers all cases in one pass.
func joinAll(t *testing.T, src scan.Source, cases []joinCase) []joined {
	t.Helper()
	js := make([]joined, len(cases))
	var calls []engine.Call
	for i, c := range cases {
		req, err := engine.Parse(All(), Find("overview"), append([]string{"FILE"}, strings.Fields(c.args)...))
		if err != nil {
			t.Fatalf("%s: %v", c.args, err)
		}
		j := joined{map[string][]map[string]any{}, map[tapped]int{}}
		req.Calls[0].Tap = func(table string, ts, v int64) { j.samples[tapped{table, ts, v}]++ }
		js[i], calls = j, append(calls, req.Calls[0])
	}
	var b, side bytes.Buffer
	out, err := render.NewOutput("json", render.Bpftrace, &b, &side)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(src, calls, engine.Selection{}, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []map[string]any
			}
		}
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for i := range doc.Answers {
		for _, tab := range doc.Answers[i].Tables {
			js[i].tables[tab.Name] = append(js[i].tables[tab.Name], tab.Rows...)
		}
	}
	return js
}

// wrong counts rows of got that are in no way rows of the truth, and says what one looks like.
func (c *joinCase) wrong(got, truth joined) (n, all int, example string) {
	for name, rows := range got.tables {
		if len(truth.samples) > 0 {
			break // histograms: their samples are compared
		}
		from, part := slices.Clone(truth.tables[name]), c.like[name] != ""
		if part {
			from = append(from, truth.tables[c.like[name]]...)
		}
		byKey := map[string][]map[string]any{}
		for _, r := range from {
			k := joinKey(r, part)
			byKey[k] = append(byKey[k], r)
		}
		for _, r := range rows {
			all++
			if !slices.ContainsFunc(byKey[joinKey(r, part)], func(w map[string]any) bool { return c.fits(r, w, part) }) {
				n++
				example = fmt.Sprintf("%s: %v, where the truth has %v", name, r, byKey[joinKey(r, part)])
			}
		}
	}
	for s, k := range got.samples {
		if all += k; truth.samples[s] < k {
			n++
			example = fmt.Sprint(s)
		}
	}
	return n, all, example
}

// joinKey is what a row and the true one have in common in any case.
func joinKey(r map[string]any, part bool) string {
	if part {
		return fmt.Sprint(r["sock"], r["ts_ns"])
	}
	return fmt.Sprint(r["sock"], r["ts_ns"], r["closed_ns"])
}

func (c *joinCase) fits(r, truth map[string]any, part bool) bool {
	for col, v := range r {
		w, has := truth[col]
		if col == "generation" || col == "why" || slices.Contains(c.skip, col) || !has && part || unknownCell(col, v) {
			continue
		}
		if fmt.Sprint(v) == fmt.Sprint(w) {
			continue
		}
		a, isNumber := v.(json.Number)
		b, _ := w.(json.Number)
		less := slices.Contains(c.parts, col) || part && slices.Contains(c.least, col)
		if !isNumber || !less || number(a) > number(b) {
			return false
		}
	}
	return true
}

func number(n json.Number) float64 {
	f, _ := n.Float64()
	return f
}

func unknownCell(col string, v any) bool {
	return v == nil || v == "" || v == "?" || strings.HasSuffix(col, "port") && v == json.Number("0")
}

// lossWay is a way to lose rows: in gaps of 2 ms, as a full ring does, or one by one.
type lossWay struct {
	event string // "" for all
	gaps  bool
	share float64
}

// lossWays are all shares of all events, and of each event that joins depend on one.
func lossWays() (ways []lossWay) {
	shares := []float64{0.01, 0.05, 0.3}
	for _, share := range shares {
		ways = append(ways, lossWay{"", true, share}, lossWay{"", false, share}, lossWay{"tcp_state", true, share})
	}
	for i, event := range []string{"sys_accept", "sys_connect", "sys_close", "sys_socket", "sock_io", "udp_gone", "udp_connect", "udp_msg",
		"sys_poll", "icmp_echo", "skb_consume", "skb_alloc", "skb_free", "dev_queue", "dev_start_xmit", "qdisc_deq", "qdisc_enq"} {
		ways = append(ways, lossWay{event, i%2 == 0, shares[1+i%2]})
	}
	return ways
}

func (w lossWay) String() string {
	how := "rows"
	if w.gaps {
		how = "gaps"
	}
	return fmt.Sprintf("%v of %s%s", w.share, how, strings.TrimRight(" "+w.event, " "))
}

// lost decides for rows in the order of time.
func (w lossWay) lost() func(*hostRow) bool {
	r := rand.New(rand.NewPCG(uint64(w.share*100), 5))
	slot, open := int64(-1), false
	return func(row *hostRow) bool {
		if !w.gaps {
			open = r.Float64() < w.share
		} else if s := row.ts / 2e6; s != slot {
			slot, open = s, r.Float64() < w.share
		}
		return open && (w.event == "" || w.event == row.event)
	}
}

// TestJoinsAfterLosses loses rows of a recording, and wants no answer to join what belongs to two.
func TestJoinsAfterLosses(t *testing.T) {
	h := newLossHost(2003)
	whole := h.recording(t)
	all := slices.Concat(joinCases, compatJoins)
	truths := joinAll(t, whole, all)
	for i, c := range all {
		if n, all, example := c.wrong(truths[i], truths[i]); n > 0 || all == 0 {
			t.Fatalf("%s: %d of %d rows are not themselves: %s", c.args, n, all, example)
		}
	}
	for _, way := range lossWays() {
		t.Run(way.String(), func(t *testing.T) {
			src := h.lossy(t, whole, way.lost())
			if len(src.lost) == 0 {
				t.Fatal("nothing was lost")
			}
			cases := joinCases
			if way.event == "" {
				cases = all
			}
			got := joinAll(t, src, cases)
			for i, c := range cases {
				if n, all, example := c.wrong(got[i], truths[i]); n > 0 {
					t.Errorf("%s: %d of %d rows are wrong: %.900s", c.args, n, all, example)
				}
			}
			// What is certain must stay: a gap costs the sessions around it, not the others.
			if sessions, all := len(got[0].tables["sessions"]), len(truths[0].tables["sessions"]); way.gaps && float64(sessions) < float64(all)*(1-3*way.share)-9 {
				t.Errorf("tcplife has %d whole sessions of %d", sessions, all)
			}
		})
	}
}
