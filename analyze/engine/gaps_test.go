package engine

import (
	"testing"

	"netrec/analyze/agg"
	"netrec/analyze/engine/eventtext"
)

// gapsOf are the gaps of tcp_state in a recording.
func gapsOf(t *testing.T, meta, events string) *agg.Gaps {
	t.Helper()
	src, err := eventtext.Parse(meta, events)
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{}
	g := in.Gaps("tcp_state")
	r := &run{src: src, inputs: []*Input{in}}
	if err := r.gaps(); err != nil {
		t.Fatal(err)
	}
	return g
}

const ms = int64(1e6)

// TestGapsByNumber: CPU 1 gave out number 8 between 2 and 3 ms, and no row has it. CPU 0
// misses one too, but lost nothing that is asked for.
func TestGapsByNumber(t *testing.T) {
	g := gapsOf(t, "", `
+1ms sock_io cpu=1 seq=6
+2ms sock_io cpu=1 seq=7
+3ms sock_io cpu=1 seq=9
+4ms sock_io cpu=0 seq=20
+5ms sock_io cpu=0 seq=22
+6ms sock_io cpu=1 seq=10
+100ms lost lost_event=tcp_state lost_cpu=1 lost_count=1 window_ns=100000000 cause=ring
+100ms lost lost_event=sock_io lost_cpu=0 lost_count=1 window_ns=100000000 cause=ring
+200ms sock_io cpu=1 seq=11
+300ms sock_io cpu=1 seq=12
`)
	for _, c := range []struct {
		after, until int64
		want         bool
	}{{1 * ms, 2*ms + 1, true}, {2 * ms, 3 * ms, true}, {3 * ms, 6 * ms, false}, {200 * ms, 300 * ms, false}} {
		if got := g.Between(eventtext.Start+c.after, eventtext.Start+c.until); got != c.want {
			t.Errorf("between %d and %d ms: %v", c.after/ms, c.until/ms, got)
		}
	}
}

// TestGapsWithoutNumbers: what no number tells of may be anywhere in the window, and what no
// row of lost tells of anywhere after the last one.
func TestGapsWithoutNumbers(t *testing.T) {
	rows := "+1ms sock_io cpu=0 seq=1\n+400ms sock_io cpu=0 seq=2\n+900ms sock_io cpu=0 seq=3\n"
	nested := gapsOf(t, "", rows+"+500ms lost lost_event=tcp_state lost_cpu=-1 lost_count=1 window_ns=100000000 cause=nested")
	if s := eventtext.Start; !nested.Between(s+400*ms, s+500*ms) || nested.Between(s+ms, s+300*ms) || nested.Between(s+600*ms, s+900*ms) {
		t.Error("nested losses are not in their window")
	}
	unsaid := gapsOf(t, `{"Losses": [{"event": "tcp_state", "cpu": 0, "generated": 9, "recorded": 7, "lost_ring": 2}]}`, rows)
	if s := eventtext.Start; !unsaid.Between(s+ms, s+900*ms) {
		t.Error("losses that only the account has are nowhere")
	}
	if gapsOf(t, "", rows).Any() {
		t.Error("gaps in a recording without losses")
	}
}
