package analyze

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/engine/eventtext"
	"netrec/analyze/scan"
	"netrec/schema"
)

// lossHost is a small host whose sessions are short and whose addresses of sockets and
// packets, ports, descriptors and processes are reused at once, so that whatever is joined
// wrongly after losses is joined with another's.
type lossHost struct {
	r            *rand.Rand
	now          int64
	due          dueSteps
	rows         []hostRow
	socks, skbs  []uint64 // free ones, the newest last
	nsock, nskb  uint64
	port, number int64
	fds          map[int64][]bool  // by process: taken
	pinged       map[int64][]int64 // by process and number: when
}

type hostRow struct {
	ts    int64
	cpu   int
	seq   int64
	event string
	text  string
}

type dueStep struct {
	ts, n int64
	do    func()
}

type dueSteps []dueStep

func (d dueSteps) Len() int { return len(d) }
func (d dueSteps) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(d[i].ts, d[j].ts), cmp.Compare(d[i].n, d[j].n)) < 0
}
func (d dueSteps) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dueSteps) Push(x any)   { *d = append(*d, x.(dueStep)) }
func (d *dueSteps) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// hostCPUs is odd on purpose, and more than one: numbers are counted by CPU.
const hostCPUs = 3

// newLossHost lets so many sessions happen.
func newLossHost(sessions int) *lossHost {
	h := &lossHost{r: rand.New(rand.NewPCG(7, 12)), fds: map[int64][]bool{}, pinged: map[int64][]int64{}}
	kinds := []func(){h.out, h.out, h.in, h.in, h.local, h.local, h.refused, h.datagrams, h.ping}
	for i := range sessions {
		h.after(int64(i)*450_000+h.r.Int64N(400_000), kinds[h.r.IntN(len(kinds))])
	}
	for h.due.Len() > 0 {
		s := heap.Pop(&h.due).(dueStep)
		h.now = s.ts
		s.do()
	}
	slices.SortStableFunc(h.rows, func(a, b hostRow) int { return cmp.Compare(a.ts, b.ts) })
	var seq [hostCPUs]int64
	for i := range h.rows {
		r := &h.rows[i]
		seq[r.cpu]++
		r.seq = seq[r.cpu]
		r.text += fmt.Sprintf(" cpu=%d seq=%d", r.cpu, r.seq)
	}
	return h
}

func (h *lossHost) after(ns int64, do func()) {
	h.number++
	heap.Push(&h.due, dueStep{h.now + ns, h.number, do})
}

// steps happen one after the other, each after a random time of about so many ns.
func (h *lossHost) steps(ns int64, do ...func()) {
	if len(do) > 0 {
		h.after(ns/2+h.r.Int64N(ns), func() {
			do[0]()
			h.steps(ns, do[1:]...)
		})
	}
}

func takeAddr(free *[]uint64, n *uint64, base uint64) uint64 {
	if k := len(*free); k > 0 {
		a := (*free)[k-1]
		*free = (*free)[:k-1]
		return a
	}
	*n++
	return base + *n*0x1000
}

func (h *lossHost) fd(pid int64) int64 {
	at := slices.Index(h.fds[pid], false)
	if at < 0 {
		at = len(h.fds[pid])
		h.fds[pid] = append(h.fds[pid], false)
	}
	h.fds[pid][at] = true
	return int64(at) + 4
}

// endpoint is one end of a connection.
type endpoint struct {
	sk         uint64
	pid, fd    int64
	comm       string
	user       int64 // process that sends, receives and closes
	conn, none string
	tx, rx     int64
}

func (h *lossHost) endpoint(pid int64, comm string) *endpoint {
	return &endpoint{pid: pid, user: pid, comm: comm}
}

// task is a row of a process, soft one of an interrupt on top of whoever runs.
func (h *lossHost) task(e *endpoint, event, format string, a ...any) {
	h.row(int(e.user)%hostCPUs, event, fmt.Sprintf("sock=0x%x pid=%d tid=%d comm=%s ", e.sk, e.user, e.user, e.comm)+fmt.Sprintf(format, a...))
}

func (h *lossHost) soft(e *endpoint, event, format string, a ...any) {
	h.row(h.r.IntN(hostCPUs), event, fmt.Sprintf("sock=0x%x pid=%d comm=any ctx=softirq ", e.sk, 100+h.r.IntN(9))+fmt.Sprintf(format, a...))
}

func (h *lossHost) row(cpu int, event, text string) {
	h.rows = append(h.rows, hostRow{ts: h.now, cpu: cpu, event: event, text: text})
}

func (h *lossHost) change(row func(*endpoint, string, string, ...any), e *endpoint, from, to, conn string) {
	row(e, "tcp_state", "old_state=%s new_state=%s protocol=tcp conn=%s", from, to, conn)
}

// client names a connection: ports are few, so that they come again.
func (h *lossHost) client() (pid int64, comm string, port int64) {
	h.port++
	pid = 100 + h.r.Int64N(9)
	return pid, fmt.Sprintf("client%d", pid), 40000 + h.port%613
}

func (h *lossHost) out() {
	pid, comm, port := h.client()
	h.connect(pid, comm, fmt.Sprintf("10.0.0.1:%d", port), "10.0.0.1:0", fmt.Sprintf("10.0.1.%d:443", 1+h.r.IntN(3)))
}

func (h *lossHost) in() {
	_, _, port := h.client()
	h.serve("10.0.0.1:80", fmt.Sprintf("10.0.2.%d:%d", 1+h.r.IntN(3), port))
}

// local is a connection with both ends here.
func (h *lossHost) local() {
	pid, comm, port := h.client()
	h.connect(pid, comm, fmt.Sprintf("127.0.0.1:%d", port), "127.0.0.1:0", "127.0.0.1:80")
	h.after(60_000, func() { h.serve("127.0.0.1:80", fmt.Sprintf("127.0.0.1:%d", port)) })
}

func (h *lossHost) connect(pid int64, comm, from, early, to string) {
	e := h.endpoint(pid, comm)
	e.conn, e.none = from+">"+to, early+">"+to
	addr, port, _ := strings.Cut(to, ":")
	call := fmt.Sprintf("family=inet protocol=tcp dest_addr=%s dest_port=%s", addr, port)
	wait := h.r.IntN(2) == 0
	do := []func(){
		func() { h.socket(e, "stream", "tcp") },
		func() { h.change(h.task, e, "CLOSE", "SYN_SENT", e.none) },
		func() { h.task(e, "tcp_connect_fn", "ret=0 conn=%s", e.conn) },
	}
	if !wait {
		do = append(do, func() { h.task(e, "sys_connect", "fd=%d ret=-115 dur_ns=9000 %s", e.fd, call) })
	}
	do = append(do, func() { h.change(h.soft, e, "SYN_SENT", "ESTABLISHED", e.conn) })
	if wait {
		do = append(do, func() { h.task(e, "sys_connect", "fd=%d ret=0 dur_ns=90000 %s", e.fd, call) })
	} else {
		do = append(do, func() {
			h.row(int(e.pid)%hostCPUs, "sys_poll", fmt.Sprintf("pid=%d tid=%d comm=%s func=poll nfds=1 fds=%d:OUT ready=%d:OUT ret=1", e.pid, e.pid, e.comm, e.fd, e.fd))
		})
	}
	do = append(do, h.talk(e)...)
	do = append(do,
		func() { h.change(h.task, e, "ESTABLISHED", "FIN_WAIT1", e.conn) },
		func() { h.close(e, 3000) },
		func() { h.change(h.soft, e, "FIN_WAIT1", "FIN_WAIT2", e.conn) },
		func() { h.over(e, "FIN_WAIT2", 2) })
	h.steps(60_000+h.r.Int64N(900_000), do...)
}

// serve is a connection that one process accepts and maybe another uses.
func (h *lossHost) serve(local, remote string) {
	e := h.endpoint(80, "server")
	e.conn, e.none = local+">"+remote, local+">0.0.0.0:0"
	do := []func(){
		func() {
			e.sk = takeAddr(&h.socks, &h.nsock, 0xffff888000000000)
			h.change(h.soft, e, "LISTEN", "SYN_RECV", e.none)
		},
		func() { h.change(h.soft, e, "SYN_RECV", "ESTABLISHED", e.conn) },
		func() {
			e.fd = h.fd(e.pid)
			h.task(e, "tcp_accept_fn", "listener=0xffff888000ff0000 ret=0 conn=%s sk_ack_backlog=1 sk_max_ack_backlog=128", e.conn)
		},
		func() {
			h.task(e, "sys_accept", "listener=0xffff888000ff0000 fd=3 ret=%d family=inet conn=%s dur_ns=2000", e.fd, e.conn)
			if h.r.IntN(3) == 0 {
				e.user = 81
			}
		},
	}
	do = append(do, h.talk(e)...)
	do = append(do,
		func() { h.change(h.soft, e, "ESTABLISHED", "CLOSE_WAIT", e.conn) },
		func() { h.change(h.task, e, "CLOSE_WAIT", "LAST_ACK", e.conn) },
		func() { h.close(e, 3000) },
		func() { h.over(e, "LAST_ACK", 1) })
	h.steps(60_000+h.r.Int64N(900_000), do...)
}

func (h *lossHost) refused() {
	pid, comm, port := h.client()
	e := h.endpoint(pid, comm)
	e.conn, e.none = fmt.Sprintf("10.0.0.1:%d>10.0.1.9:81", port), "10.0.0.1:0>10.0.1.9:81"
	h.steps(50_000,
		func() { h.socket(e, "stream", "tcp") },
		func() { h.change(h.task, e, "CLOSE", "SYN_SENT", e.none) },
		func() { h.task(e, "tcp_connect_fn", "ret=0 conn=%s", e.conn) },
		func() {
			h.soft(e, "tcp_state", "old_state=SYN_SENT new_state=CLOSE protocol=tcp conn=%s sk_err=111 bytes_acked=0 bytes_received=0 total_retrans=0", e.conn)
		},
		func() {
			h.task(e, "sys_connect", "fd=%d ret=-111 dur_ns=70000 family=inet protocol=tcp dest_addr=10.0.1.9 dest_port=81", e.fd)
		},
		func() { h.close(e, 3000); h.free(e) })
}

// datagrams is a UDP socket that asks and is answered.
func (h *lossHost) datagrams() {
	pid, comm, port := h.client()
	e := h.endpoint(pid, comm)
	e.conn = fmt.Sprintf("10.0.0.1:%d>10.0.1.53:53", port)
	h.steps(200_000,
		func() { h.socket(e, "dgram", "udp") },
		func() {
			h.task(e, "udp_connect", "ret=0 dest_addr=10.0.1.53 dest_port=53 protocol=udp conn=%s", e.conn)
		},
		func() {
			h.task(e, "udp_msg", "dir=send func=udp_sendmsg ret=%d asked_bytes=40 conn=%s", 40+h.r.IntN(90), e.conn)
		},
		func() {
			h.task(e, "udp_msg", "dir=recv func=udp_recvmsg ret=%d peer_addr=10.0.1.53 peer_port=53 conn=%s", 100+h.r.IntN(900), e.conn)
		},
		func() { h.task(e, "udp_gone", "conn=%s", e.conn) },
		func() { h.close(e, 400_000); h.free(e) }) // it began before that
}

// ping is an echo request, which may have no answer. Its number is used again after a tenth of
// a second: earlier it is taken for the same packet on another device.
func (h *lossHost) ping() {
	pid, comm, _ := h.client()
	n := slices.IndexFunc(h.pinged[pid], func(ts int64) bool { return h.now-ts > 100e6 })
	if n < 0 {
		n, h.pinged[pid] = len(h.pinged[pid]), append(h.pinged[pid], 0)
	}
	h.pinged[pid][n] = h.now
	far, skb := fmt.Sprintf("10.0.1.%d", 1+h.r.IntN(3)), takeAddr(&h.skbs, &h.nskb, 0xffff888100000000)
	echo := func(kind int, dir, from, to, rest string) func() {
		return func() {
			h.row(int(pid)%hostCPUs, "icmp_echo", fmt.Sprintf("family=inet saddr=%s daddr=%s icmp_type=%d icmp_id=%d icmp_seq=%d dir=%s dev=eth0 skb=0x%x pid=%d comm=%s%s",
				from, to, kind, pid, n, dir, skb, pid, comm, rest))
		}
	}
	do := []func(){echo(echoRequest4, "send", "10.0.0.1", far, "")}
	if h.r.IntN(5) > 0 {
		do = append(do, echo(echoReply4, "recv", far, "10.0.0.1", " ctx=softirq"))
	}
	h.steps(900_000, append(do, func() { h.skbs = append(h.skbs, skb) })...)
}

func (h *lossHost) socket(e *endpoint, kind, protocol string) {
	e.sk, e.fd = takeAddr(&h.socks, &h.nsock, 0xffff888000000000), h.fd(e.pid)
	h.task(e, "sys_socket", "fd=%d ret=%d family=inet sock_type=%s protocol=%s func=socket", e.fd, e.fd, kind, protocol)
}

// talk is what a session sends and receives.
func (h *lossHost) talk(e *endpoint) (do []func()) {
	for range 1 + h.r.IntN(4) {
		do = append(do, func() {
			n := 1 + h.r.Int64N(5000)
			e.tx += n
			h.task(e, "sock_io", "dir=send ret=%d msg_flags=0 protocol=tcp conn=%s", n, e.conn)
			h.task(e, "tcp_write_xmit", "ret=%d nonagle=0 snd_nxt=%d write_seq=%d snd_una=%d snd_wnd=65535 mss_bytes=1448 packets_out=1 snd_cwnd=%d", n%2, e.tx, e.tx+n%2*700, e.tx, 10+n%4)
			h.packet(e)
		}, func() {
			h.congested(e, "open", "recovery")
			h.soft(e, "tcp_retrans", "retrans_kind=R len_bytes=1448 tcp_seq=%d ca_state=recovery", e.tx)
		}, func() {
			h.congested(e, "recovery", "open")
		}, func() {
			n := 1 + h.r.Int64N(9000)
			e.rx += n
			h.soft(e, "tcp_rcv_est", "snd_cwnd=%d snd_ssthresh=7 sk_sndbuf=87040 sk_wmem_queued=0", 10+n%3)
			h.task(e, "sock_io", "dir=recv ret=%d msg_flags=0 protocol=tcp conn=%s", n, e.conn)
		})
	}
	return do
}

func (h *lossHost) congested(e *endpoint, from, to string) {
	h.soft(e, "tcp_cong_state", "old_ca_state=%s ca_state=%s snd_cwnd=7", from, to)
}

// packet is a packet through a queue to the driver.
func (h *lossHost) packet(e *endpoint) {
	skb, size := takeAddr(&h.skbs, &h.nskb, 0xffff888100000000), 100+h.r.IntN(1400)
	row := func(event, format string, a ...any) func() {
		return func() { h.task(e, event, "skb=0x%x len_bytes=%d "+format, append([]any{skb, size}, a...)...) }
	}
	dev, q := "dev=eth0 ifindex=2", "dev=eth0 ifindex=2 qdisc=0xffff888200000000 qdisc_kind=fq"
	h.steps(30_000,
		func() { h.task(e, "skb_alloc", "skb=0x%x func=__alloc_skb", skb) },
		row("dev_queue", dev), row("qdisc_enq", q), row("qdisc_deq", q+" packets=1"), row("dev_start_xmit", dev), row("dev_xmit", dev+" rc=0"),
		func() { h.soft(&endpoint{}, "skb_consume", "skb=0x%x", skb) },
		func() {
			h.soft(&endpoint{}, "skb_free", "skb=0x%x func=skb_release_data", skb)
			h.skbs = append(h.skbs, skb)
		})
}

func (h *lossHost) close(e *endpoint, took int) {
	h.task(e, "sys_close", "fd=%d fd_last=%d func=close ret=0 dur_ns=%d conn=%s", e.fd, e.fd, took, e.conn)
	h.fds[e.pid][e.fd-4] = false
}

// over is the end of a TCP socket, which counts so many SYN and FIN as bytes that it sent, and
// the peer's FIN; its address is free at once.
func (h *lossHost) over(e *endpoint, from string, signs int64) {
	h.soft(e, "tcp_state", "old_state=%s new_state=CLOSE protocol=tcp conn=%s bytes_acked=%d bytes_received=%d tcp_flags=1 total_retrans=%d", from, e.conn, e.tx+signs, e.rx+1, h.r.IntN(3))
	h.free(e)
}

func (h *lossHost) free(e *endpoint) { h.socks = append(h.socks, e.sk) }

// lossTick is how often the recorder looks at what was lost.
const lossTick = 100e6

// lossySource is the file of a recorder that lost some of the rows of a host: it has the account,
// and a row of lost for each event and CPU of every tick.
type lossySource struct {
	*eventtext.Source // all rows
	losses            *eventtext.Source
	lost              map[hostNumber]bool
	cpu, seq          scan.Col
}

type hostNumber struct{ cpu, seq int64 }

// Meta is what the recorder says.
func (s *lossySource) Meta() *scan.Meta { return s.losses.Meta() }

// Scan leaves out what was lost. Rows of lost come if nothing else is asked for.
func (s *lossySource) Scan(q scan.Query, f func(*scan.Row) error) error {
	if slices.Equal(q.Events, []string{"lost"}) {
		return s.losses.Scan(q, f)
	}
	if q.Columns != nil {
		q.Columns = append(slices.Clone(q.Columns), s.cpu, s.seq)
	}
	return s.Source.Scan(q, func(r *scan.Row) error {
		if s.lost[hostNumber{r.Int(scan.IntAt(s.cpu)), r.Int(scan.IntAt(s.seq))}] {
			return nil
		}
		return f(r)
	})
}

// recording is all that happened.
func (h *lossHost) recording(t *testing.T) *eventtext.Source {
	t.Helper()
	var b strings.Builder
	for i := range h.rows {
		fmt.Fprintf(&b, "+%dns %s %s\n", h.rows[i].ts, h.rows[i].event, h.rows[i].text)
	}
	src, err := eventtext.Parse("", b.String())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// lossy is what is left of it.
func (h *lossHost) lossy(t *testing.T, whole *eventtext.Source, lost func(*hostRow) bool) *lossySource {
	t.Helper()
	type place struct {
		event string
		cpu   int
	}
	col := func(name string) scan.Col { return scan.Col(schema.ColumnIndex(name)) }
	s := &lossySource{Source: whole, lost: map[hostNumber]bool{}, cpu: col("cpu"), seq: col("seq")}
	account, tick := map[place][2]int{}, map[place]int{}
	var b strings.Builder
	flush := func(at int64) {
		for p, n := range tick {
			fmt.Fprintf(&b, "+%dns lost lost_event=%s lost_cpu=%d lost_count=%d window_ns=%d cause=ring\n", at, p.event, p.cpu, n, int64(lossTick))
		}
		clear(tick)
	}
	next := int64(lossTick)
	for i := range h.rows {
		r := &h.rows[i]
		for ; r.ts >= next; next += lossTick {
			flush(next)
		}
		p := place{r.event, r.cpu}
		n := account[p]
		if n[0]++; lost(r) {
			n[1]++
			tick[p]++
			s.lost[hostNumber{int64(r.cpu), r.seq}] = true
		}
		account[p] = n
	}
	flush(next)
	var counts []string
	for p, n := range account {
		counts = append(counts, fmt.Sprintf(`{"event": %q, "cpu": %d, "generated": %d, "recorded": %d, "lost_ring": %d}`, p.event, p.cpu, n[0], n[0]-n[1], n[1]))
	}
	var err error
	if s.losses, err = eventtext.Parse(`{"Losses": [`+strings.Join(counts, ", ")+`]}`, b.String()); err != nil {
		t.Fatal(err)
	}
	m, all := s.losses.Meta(), whole.Meta()
	for e, n := range all.Rows {
		m.Rows[e] = n
	}
	m.FirstNS, m.LastNS = all.FirstNS, all.LastNS
	return s
}
