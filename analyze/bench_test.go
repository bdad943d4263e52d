package analyze

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/render"
)

// traffic500 is a recording of every event over 500 sockets, made once.
var traffic500 = sync.OnceValues(func() (*eventtext.Source, error) {
	var b strings.Builder
	ts := 0
	line := func(format string, a ...any) {
		ts += 1000
		fmt.Fprintf(&b, "+%dns ", ts)
		fmt.Fprintf(&b, format+"\n", a...)
	}
	for round := range 4 {
		for s := range 500 {
			sk := fmt.Sprintf("0x%x", 0xffff888000000000+uint64(s)*0x1000)
			conn := fmt.Sprintf("10.0.0.1:%d>10.0.%d.%d:443 protocol=tcp", 20000+s, s/250, s%250)
			skb := fmt.Sprintf("0x%x", 0xffff888100000000+uint64(s)*0x100)
			line("tcp_state sock=%s pid=%d comm=curl old_state=CLOSE new_state=SYN_SENT conn=%s", sk, s+1, conn)
			line("sys_connect sock=%s pid=%d comm=curl family=inet ret=0 fd=5 dur_ns=900", sk, s+1)
			line("tcp_state sock=%s ctx=softirq pid=0 old_state=SYN_SENT new_state=ESTABLISHED conn=%s", sk, conn)
			for i := range 8 {
				line("sock_io sock=%s pid=%d comm=curl dir=%s ret=%d msg_flags=0 conn=%s", sk, s+1, [2]string{"send", "recv"}[i&1], 100<<i, conn)
				line("tcp_rcv_est sock=%s ctx=softirq pid=0 snd_cwnd=%d snd_ssthresh=7 sk_sndbuf=87040 sk_wmem_queued=0", sk, 10+i)
				line("tcp_write_xmit sock=%s ctx=softirq pid=0 ret=%d nonagle=4 snd_nxt=%d", sk, i&1, i*1000)
				line("skb_alloc skb=%s", skb)
				line("skb_consume skb=%s", skb)
			}
			line("skb_drop skb=%s ctx=softirq kstack=a+0x1;b+0x2;c+0x%x drop_reason=NO_SOCKET location=c+0x1", skb, round)
			line("tcp_retrans sock=%s ctx=softirq retrans_kind=R conn=%s", sk, conn)
			line("dns_call pid=%d comm=curl dur_ns=1000000 host=h%d.example ret=0 func=getaddrinfo", s+1, s)
			line("tcp_state sock=%s ctx=softirq pid=0 old_state=FIN_WAIT2 new_state=CLOSE conn=%s bytes_acked=1 bytes_received=2", sk, conn)
		}
	}
	return eventtext.Parse("", b.String())
})

// BenchmarkFold gives ns per row that the analysis reads, scan of the memory included.
func BenchmarkFold(b *testing.B) {
	src, err := traffic500()
	if err != nil {
		b.Fatal(err)
	}
	for _, a := range All() {
		b.Run(a.Name, func(b *testing.B) {
			needs, uses, err := engine.Needs(a)
			if err != nil {
				b.Fatal(err)
			}
			rows := int64(0)
			for _, e := range append(needs, uses...) {
				rows += src.Meta().Rows[e]
			}
			b.ReportAllocs()
			b.ResetTimer()
			cpu := cpuTime()
			for range b.N {
				out, err := render.NewOutput("text", render.Bpftrace, io.Discard, io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := engine.Run(src, []engine.Call{{Analysis: a, Addr: 0xffff888000001000}}, engine.Selection{}, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/float64(rows), "cpu-ns/row")
		})
	}
}

// cpuTime is what the process has used, ns: on a busy machine it says more than the clock.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
