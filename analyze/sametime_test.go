package analyze

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
)

// TestSameTimeSameOrder: what happened at one time, between the same ends, has an order of its
// own, and not that of a map.
func TestSameTimeSameOrder(t *testing.T) {
	var events strings.Builder
	for i := range 12 {
		fmt.Fprintf(&events, "+1ms udp_msg sock=0xffff88800000%d000 pid=%d comm=dig dir=send ret=5 protocol=udp dest_addr=10.0.0.9 dest_port=53\n", i%9+1, 7+i)
	}
	var first []byte
	for range 20 {
		src, err := eventtext.Parse(`{"Hooks":[{"event":"udp_connect","state":"attached"},{"event":"udp_gone","state":"attached"}]}`, events.String())
		if err != nil {
			t.Fatal(err)
		}
		got := answer(t, src, "udplife", "csv")
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) || bytes.Count(got, []byte("10.0.0.9")) < 9 {
			t.Fatalf("once\n%s\nthen\n%s", first, got)
		}
	}
}
