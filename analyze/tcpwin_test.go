package analyze

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
)

// cubicSender is a session whose window grows in arcs and is cut at each loss, beside one
// with fewer rows.
func cubicSender(t *testing.T) *eventtext.Source {
	t.Helper()
	var b strings.Builder
	line := func(us int, format string, args ...any) {
		fmt.Fprintf(&b, "+%dus "+format+"\n", append([]any{us}, args...)...)
	}
	line(900, "tcp_state sock=0xffff888000001000 pid=7 comm=iperf3 old_state=CLOSE new_state=SYN_SENT conn=10.0.0.1:0>10.0.0.2:5201 protocol=tcp")
	line(950, "tcp_state sock=0xffff888000001000 ctx=softirq old_state=SYN_SENT new_state=ESTABLISHED conn=10.0.0.1:40000>10.0.0.2:5201 protocol=tcp")
	window, threshold, lost := 10.0, math.MaxInt32, 0
	for ms := 1; ms <= 9000; ms++ {
		if since := float64(ms-lost) / 1000; threshold == math.MaxInt32 {
			window *= 1.004
		} else {
			window = 120 + 18*math.Pow(since-1.2, 3)*3
		}
		if window > 170 {
			lost, threshold = ms, int(window*0.7)
			line(ms*1000+10, "tcp_retrans sock=0xffff888000001000 ctx=softirq retrans_kind=R conn=10.0.0.1:40000>10.0.0.2:5201 snd_cwnd=%d", threshold)
			window = float64(threshold)
		}
		line(ms*1000, "tcp_rcv_est sock=0xffff888000001000 ctx=softirq snd_cwnd=%d snd_ssthresh=%d sk_sndbuf=%d sk_wmem_queued=1000",
			int(window), threshold, min(87040+ms*300, 1200000))
		if ms%7 == 0 {
			line(ms*1000+1, "tcp_rcv_est sock=0xffff888000002000 ctx=softirq snd_cwnd=10 snd_ssthresh=2147483647 sk_sndbuf=87040 sk_wmem_queued=0")
		}
	}
	src, err := eventtext.Parse("", b.String())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestWindowPlot(t *testing.T) {
	src, dir := cubicSender(t), t.TempDir()
	for _, name := range []string{"window.svg", "window.png"} {
		said := string(answer(t, src, "tcpwin --plot "+filepath.Join(dir, name), "text"))
		if !strings.Contains(said, "0xffff888000001000   1     9000") || !strings.Contains(said, "tcpwin --sock 0xffff888000001000 --gen 1") {
			t.Errorf("%s: the busiest session is not named in\n%s", name, said)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "window.svg"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(goldens, "tcpwin.svg")
	if *update {
		if err := os.WriteFile(golden, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(svg, want) {
		t.Errorf("%s differs from what is drawn now, %v", golden, err)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "window.png"))
	if err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() != 2000 {
		t.Errorf("picture: %v", err)
	}
	if path := os.Getenv("NETREC_PLOT"); path != "" { // to look at
		if err := os.WriteFile(path, picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWindowPlotKeepsWhatIsBusy runs more sessions than are kept at once.
func TestWindowPlotKeepsWhatIsBusy(t *testing.T) {
	var b strings.Builder
	for i := range 3 * winKept {
		for j := range 3 {
			fmt.Fprintf(&b, "+%dms tcp_rcv_est sock=0x%x ctx=softirq snd_cwnd=10 snd_ssthresh=9 sk_sndbuf=1 sk_wmem_queued=0\n", 10*i+j, 0x1000+i*64)
		}
		fmt.Fprintf(&b, "+%dms tcp_rcv_est sock=0x900 ctx=softirq snd_cwnd=10 snd_ssthresh=9 sk_sndbuf=1 sk_wmem_queued=0\n", 10*i+5)
	}
	src, err := eventtext.Parse("", b.String())
	if err != nil {
		t.Fatal(err)
	}
	said := string(answer(t, src, "tcpwin --plot "+filepath.Join(t.TempDir(), "w.svg"), "text"))
	if !strings.Contains(said, fmt.Sprintf("0x900                1      %d", 3*winKept)) || strings.Contains(said, "beginning of the session is not") {
		t.Errorf("the busiest session is not drawn whole:\n%s", said)
	}
}

// TestWindowPlotDrawsTheSender has both ends of a session: the receiver has more rows, and
// a window that nothing uses.
func TestWindowPlotDrawsTheSender(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		next := (1<<32 - 5000 + 1000*i) % (1 << 32) // goes round
		fmt.Fprintf(&b, "+%dms tcp_rcv_est sock=0x1000 ctx=softirq snd_nxt=7 snd_cwnd=10 snd_ssthresh=9 sk_sndbuf=1 sk_wmem_queued=0 *3\n", i)
		fmt.Fprintf(&b, "+%dms tcp_rcv_est sock=0x2000 ctx=softirq snd_nxt=%d snd_cwnd=%d snd_ssthresh=9 sk_sndbuf=1 sk_wmem_queued=0\n", i, next, 10+i)
	}
	src, err := eventtext.Parse("", b.String())
	if err != nil {
		t.Fatal(err)
	}
	said := string(answer(t, src, "tcpwin --plot "+filepath.Join(t.TempDir(), "w.svg"), "text"))
	if !strings.Contains(said, "0x2000               1       40      39000") || !strings.Contains(said, "drawn: the side that sent most") {
		t.Errorf("the sender is not drawn:\n%s", said)
	}
}
