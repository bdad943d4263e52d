package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// hostShare is what a budget leaves of connections from a moment on.
type hostShare struct {
	of    uint32
	since int64 // ns after the start
}

var (
	connOf = regexp.MustCompile(`conn=(\S+)>(\S+)`)
	sockOf = regexp.MustCompile(`sock=(\S+)`)
)

// thinned is what a recorder with a budget has of the host: shares are in the order of time. It counts,
// as the probes do, what it leaves out.
func (h *lossHost) thinned(t *testing.T, whole *eventtext.Source, shares []hostShare) *lossySource {
	t.Helper()
	col := func(name string) scan.Col { return scan.Col(schema.ColumnIndex(name)) }
	s := &lossySource{Source: whole, lost: map[hostNumber]bool{}, cpu: col("cpu"), seq: col("seq")}
	b, now, next := &schema.Budget{Percent: 2}, uint32(1), 0
	seen, conns := map[string]*schema.Seen{}, map[string]uint32{}
	list := func() (all []schema.Seen) {
		for _, n := range seen {
			all = append(all, *n)
		}
		return all
	}
	for i := range h.rows {
		r := &h.rows[i]
		for ; next < len(shares) && r.ts >= shares[next].since; next++ {
			now = shares[next].of
			b.Changes = append(b.Changes, schema.ShareChange{Class: schema.ClassConns, Of: now, SinceNS: eventtext.Start + shares[next].since, Seen: list()})
		}
		sock := sockOf.FindString(r.text)
		if m := connOf.FindStringSubmatch(r.text); m != nil {
			conns[sock] = schema.ConnHash(netip.MustParseAddrPort(m[1]), netip.MustParseAddrPort(m[2]), 0)
		}
		if schema.ByName(r.event).Class() != schema.ClassConns {
			continue
		}
		if seen[r.event] == nil {
			seen[r.event] = &schema.Seen{Event: r.event}
		}
		if uint64(conns[sock]) < 1<<32/uint64(now) {
			seen[r.event].Kept++
		} else {
			seen[r.event].Left++
			s.lost[hostNumber{int64(r.cpu), r.seq}] = true
		}
	}
	b.End = list()
	meta, err := json.Marshal(map[string]any{"Budget": b})
	if err != nil {
		t.Fatal(err)
	}
	if s.losses, err = eventtext.Parse(string(meta), ""); err != nil {
		t.Fatal(err)
	}
	m, all := s.losses.Meta(), whole.Meta()
	m.Rows, m.FirstNS, m.LastNS = all.Rows, all.FirstNS, all.LastNS
	return s
}

// hostShares rise and fall while the host is busy, which it is for about a second.
var hostShares = []hostShare{{2, 150e6}, {8, 300e6}, {4, 500e6}, {1, 800e6}}

// TestJoinsUnderBudget leaves out rows of connections as a budget does, and wants each answer about a
// socket to be right or empty, and whole sockets to stay.
func TestJoinsUnderBudget(t *testing.T) {
	h := newLossHost(2003)
	whole := h.recording(t)
	src := h.thinned(t, whole, hostShares)
	truths, got := joinAll(t, whole, joinCases), joinAll(t, src, joinCases)
	for i, c := range joinCases {
		if strings.HasPrefix(c.args, "sockbytes") {
			continue // scaled, and compared below
		}
		// Bytes of a part would be those of a socket that did less.
		c.parts = slices.DeleteFunc(slices.Clone(c.parts), func(col string) bool { return strings.HasSuffix(col, "x_bytes") })
		n, all, example := c.wrong(got[i], truths[i])
		if n > 0 || all == 0 {
			t.Errorf("%s: %d of %d rows are wrong: %.900s", c.args, n, all, example)
		}
		_, before, _ := c.wrong(truths[i], truths[i])
		t.Logf("%s: %d of %d rows", c.args, all, before)
		if all*5 < before { // a quarter of the time all were kept
			t.Errorf("%s: %d of %d rows are left", c.args, all, before)
		}
	}
}

// TestScaledTotals compares totals with the truth and with the bound that the answer states.
func TestScaledTotals(t *testing.T) {
	bound := regexp.MustCompile(`total ± ([0-9.]+) %`)
	h := newLossHost(2003)
	whole := h.recording(t)
	src := h.thinned(t, whole, hostShares)
	for _, args := range []string{"sockcalls", "sockbytes", "socketio --bytes", "socksize --stats", "sockcalls --port 443", "eventrates --interval 100"} {
		truth, _ := total(t, whole, args)
		got, notes := total(t, src, args)
		m := bound.FindStringSubmatch(notes)
		if m == nil {
			t.Errorf("%s: no bound in %q", args, notes)
			continue
		}
		p, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		off := 100 * (got - truth) / truth
		t.Logf("%s: %.0f, the truth is %.0f: %+.1f %%, stated ± %v %%", args, got, truth, off, p)
		if math.Abs(off) > p || p > 30 || truth == 0 {
			t.Errorf("%s: %.0f, the truth is %.0f: %+.1f %%, stated ± %v %%", args, got, truth, off, p)
		}
	}
}

// total adds up what the first column of amounts has in all tables, and joins the notes.
func total(t *testing.T, src scan.Source, args string) (sum float64, notes string) {
	t.Helper()
	req, err := engine.Parse(All(), Find("overview"), append([]string{"FILE"}, strings.Fields(args)...))
	if err != nil {
		t.Fatal(err)
	}
	sel, err := engine.NewSelection(src.Meta(), req.Options)
	if err != nil {
		t.Fatal(err)
	}
	var b, side bytes.Buffer
	out, err := render.NewOutput("json", render.Bpftrace, &b, &side)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(src, req.Calls, sel, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Answers []struct {
			Tables []struct{ Rows []map[string]any }
			Notes  []string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %s", err, b.Bytes())
	}
	for _, tab := range doc.Answers[0].Tables {
		for _, r := range tab.Rows {
			n, _ := r["count"].(float64)
			sum += n
		}
	}
	return sum, fmt.Sprint(doc.Answers[0].Notes)
}
