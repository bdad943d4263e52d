package analyze

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"netrec/analyze/engine/eventtext"
)

// TestOverviewFitsAScreen: whatever is wrong, forty lines of a hundred columns have it.
func TestOverviewFitsAScreen(t *testing.T) {
	var events strings.Builder
	for i := range 37 {
		sock := fmt.Sprintf("sock=0xffff8880%08x pid=%d comm=a-rather-long-0", 0x1000*(i+1), 100+i)
		conn := fmt.Sprintf("conn=[2001:db8:1111:2222:3333:4444:5555:1]:40000>[2001:db8:1111:2222:3333:4444:5555:%x]:%d protocol=tcp", i+2, 1000+i)
		fmt.Fprintf(&events, "+1ms tcp_state %s %s old_state=CLOSE new_state=SYN_SENT\n", sock, conn)
		fmt.Fprintf(&events, "+1ms sys_connect %s ret=-111 dest_addr=2001:db8:1111:2222:3333:4444:5555:%x dest_port=%d family=inet6 %s\n", sock, i+2, 1000+i, conn)
		fmt.Fprintf(&events, "+1ms tcp_retrans %s %s retrans_kind=R len_bytes=1448 snd_cwnd=2 state=ESTABLISHED *9\n", sock, conn)
		fmt.Fprintf(&events, "+1ms skb_drop skb=0xffff888100000%03x drop_reason=REASON_NUMBER_%d location=a_function_of_some_length+0x123 *7\n", i, i)
		fmt.Fprintf(&events, "+1ms sock_io %s %s dir=send ret=%d out_bytes=1001 in_bytes=1 unsent_bytes=0 unacked_bytes=1000 unread_bytes=0\n", sock, conn, 1_000_000_000)
		fmt.Fprintf(&events, "+1ms dns_call pid=%d comm=resolver host=a%d.example func=getaddrinfo dur_ns=7000000000 ret=0\n", 100+i, i)
	}
	losses := `[{"event": "sys_connect", "cpu": 1, "generated": 10, "recorded": 5, "lost_ring": 5}, {"event": "sys_close", "generated": 10, "recorded": 5, "lost_ring": 5},
		{"event": "skb_drop", "generated": 10, "recorded": 5, "lost_ring": 5}, {"event": "dns_call", "generated": 10, "recorded": 5, "lost_ring": 5}]`
	src, err := eventtext.Parse(`{"Path": "cap.parquet", "Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373130500000000, "end": "timer",
		"events": ["tcp_state", "sock_io", "skb_drop", "dns_call", "sys_connect", "sys_close", "tcp_retrans", "tcp_rcv_est"]}, "Losses": `+losses+`}`, events.String())
	if err != nil {
		t.Fatal(err)
	}
	got := string(answer(t, src, "", "text"))
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) > 40 || len(lines) < 30 {
		t.Errorf("%d lines:\n%s", len(lines), got)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 100 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(l), l)
		}
	}
	for _, want := range []string{"what looks wrong: ", "BAD ", "more: netrec analyze cap.parquet findings --top ", "who talked most", "where the time went, by service", "103     a-rather-long-0  1000000000",
		"further limits: --all shows them", "netrec analyze cap.parquet --all", "netrec report cap.parquet"} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen lacks %q:\n%s", want, got)
		}
	}
}
