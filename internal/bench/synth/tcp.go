package synth

// conn is a TCP connection of the host.
type conn struct {
	sk, cookie   int64
	who          process
	fd           int64
	local, far   [4]byte
	lport, rport uint16
	passive      bool
	snd          int64 // next sequence number
	cwnd         int64
	tx, rx       int64
	segsOut      int64
	segsIn       int64
	retrans      int64
}

var (
	localAddr    = [4]byte{10, 0, 0, 1}
	servicePorts = []uint16{443, 80, 5432, 6379, 8080}
)

const listener = 0xffff888400000000

func (h *host) at(c *conn, after int64) at {
	return at{ts: h.now + after, who: c.who, sock: uint64(c.sk)}
}

// soft is a row of the connection that an interrupt makes.
func (h *host) soft(c *conn, after int64, skb uint64) at {
	return at{ts: h.now + after, who: h.someone(), soft: true, sock: uint64(c.sk), skb: skb}
}

// tuple sets the ends of a connection.
func (r row) tuple(c *conn) row {
	r.ip("laddr", c.local).ip("raddr", c.far).num("lport", int64(c.lport)).num("rport", int64(c.rport))
	if r.has("cookie") {
		r.num("cookie", c.cookie)
	}
	return r
}

func (h *host) newConn(passive bool) *conn {
	h.cookie++
	if h.port++; h.port < 32768 {
		h.port = 32768
	}
	c := &conn{sk: int64(h.socks.get(h.now)), cookie: h.cookie, who: h.someone(), fd: int64(5 + h.r.IntN(200)), local: localAddr,
		far: [4]byte{10, byte(h.r.IntN(2)), byte(h.r.IntN(8)), byte(1 + h.r.IntN(250))}, passive: passive, snd: int64(h.r.Uint32() >> 1), cwnd: 10}
	service := servicePorts[h.r.IntN(len(servicePorts))]
	if c.lport, c.rport = h.port, service; passive {
		c.lport, c.rport = service, h.port
	}
	return c
}

func (h *host) state(c *conn, a at, from, to string) row {
	return h.row("tcp_state", a).tuple(c).name("protocol", "tcp").name("old_state", from).name("new_state", to)
}

// connect opens a connection to another host.
func (h *host) connect() {
	c := h.newConn(false)
	rtt := h.wait(800_000)
	h.row("sys_socket", h.at(c, 0)).num("dur_ns", 1500).num("ret", c.fd).num("fd", c.fd).name("family", "inet").name("sock_type", "stream").
		name("protocol", "tcp").name("func", "socket")
	h.state(c, h.at(c, 10_000), "CLOSE", "SYN_SENT").num("uid", 1000)
	h.row("tcp_connect_fn", h.at(c, 12_000)).tuple(c).num("ret", 0).num("uid", 1000)
	ret, took := int64(0), rtt
	if h.r.IntN(2) == 0 {
		ret, took = -115, 15_000
		h.row("sys_epoll_ctl", h.at(c, 30_000)).num("ret", 0).num("fd", c.fd).num("epfd", 4).name("epoll_op", "ADD").num("epoll_data", c.fd).num("epoll_events", 4)
	}
	r := h.row("sys_connect", h.at(c, 12_000+took)).num("dur_ns", took).num("ret", ret).num("fd", c.fd).ip("dest_addr", c.far).num("dest_port", int64(c.rport))
	r.num("cookie", c.cookie).name("sock_type", "stream").name("protocol", "tcp").stack("ustack", []uint64{userBase + 3, userBase + 1, userBase})
	h.now += rtt
	if h.r.IntN(20) == 0 {
		r.num("ret", -111).num("dur_ns", rtt)
		h.state(c, h.soft(c, 9000, 0), "SYN_SENT", "CLOSE")
		h.socks.put(uint64(c.sk), h.now+100_000)
		return
	}
	h.state(c, h.soft(c, 10_000, 0), "SYN_SENT", "ESTABLISHED")
	h.conns = append(h.conns, c)
}

// accept takes a connection from another host.
func (h *host) accept() {
	c := h.newConn(true)
	queued := h.wait(300_000)
	syn := at{ts: h.now, who: h.someone(), soft: true, sock: listener, skb: h.skbs.get(h.now)}
	h.skbs.put(syn.skb, h.now+20_000)
	h.row("tcp_syn_arrive", syn).tuple(c).num("sk_ack_backlog", int64(h.r.IntN(4))).num("sk_max_ack_backlog", 511).num("req_queue_len", int64(h.r.IntN(3)))
	h.state(c, h.soft(c, 400_000, 0), "LISTEN", "SYN_RECV")
	h.row("tcp_syn_recv", h.soft(c, 400_500, 0)).ip("laddr", c.local).ip("raddr", c.far).num("lport", int64(c.lport)).num("rport", int64(c.rport)).
		addr("listener", listener).num("sk_ack_backlog", int64(h.r.IntN(4))).num("sk_max_ack_backlog", 511).name("func", "tcp_v4_syn_recv_sock")
	h.state(c, h.soft(c, 401_000, 0), "SYN_RECV", "ESTABLISHED")
	h.row("tcp_accept_fn", h.at(c, 401_000+queued)).tuple(c).addr("listener", listener).num("ret", 0).num("sk_ack_backlog", 1).num("sk_max_ack_backlog", 511)
	h.row("sys_accept", h.at(c, 402_000+queued)).tuple(c).num("dur_ns", 3000).num("ret", c.fd).num("fd", 3).addr("listener", listener).
		ip("peer_addr", c.far).num("peer_port", int64(c.rport)).num("peer_buf", 1).name("func", "accept4")
	h.now += 402_000 + queued
	h.conns = append(h.conns, c)
}

// close ends a connection.
func (h *host) close(i int) {
	c := h.conns[i]
	h.conns[i] = h.conns[len(h.conns)-1]
	h.conns = h.conns[:len(h.conns)-1]
	h.state(c, h.at(c, 0), "ESTABLISHED", "FIN_WAIT1")
	h.row("sys_close", h.at(c, 5000)).tuple(c).num("dur_ns", 6000).num("ret", 0).num("fd", c.fd).num("fd_last", c.fd).name("func", "close")
	h.state(c, h.soft(c, 300_000, 0), "FIN_WAIT1", "FIN_WAIT2")
	h.state(c, h.soft(c, 310_000, 0), "FIN_WAIT2", "CLOSE").num("bytes_acked", c.tx).num("bytes_received", c.rx).num("segs_in", c.segsIn).
		num("segs_out", c.segsOut).num("total_retrans", c.retrans).num("srtt_us", 400)
	h.socks.put(uint64(c.sk), h.now+400_000)
}

// send is a write of a process, down to the packets.
func (h *host) send(c *conn) {
	size := int64(64) << h.r.IntN(9)
	h.row("sys_write", h.at(c, 9000)).num("dur_ns", 9000).num("ret", size).num("fd", c.fd).name("func", "sendto")
	h.row("sock_io", h.at(c, 8800)).tuple(c).num("ret", size).num("asked_bytes", size).num("msg_flags", 0x4000).name("sock_type", "stream").
		name("protocol", "tcp").name("dir", "send").str("prot_name", "TCP").num("sk_rcvbuf", 131072)
	h.row("tcp_msg", h.at(c, 8700)).tuple(c).num("ret", size).num("asked_bytes", size).name("func", "tcp_sendmsg").name("dir", "send")
	held := int64(0)
	if h.r.IntN(20) == 0 {
		held = 1
	}
	w := h.row("tcp_write_xmit", h.at(c, 3000)).num("cookie", c.cookie).num("ret", held).num("nonagle", int64(h.r.IntN(2))).num("mss_bytes", 1448)
	w.num("snd_nxt", c.snd&0xffffffff).num("snd_cwnd", c.cwnd).num("write_seq", (c.snd+size)&0xffffffff)
	if held == 0 {
		c.snd += size
		c.tx += size
		h.transmit(c, size)
	}
	h.now += 10_000
}

// receive is a segment from the wire up to the process.
func (h *host) receive(c *conn) {
	size := int64(64) << h.r.IntN(6)
	h.arrive(c, size)
	if c.cwnd++; h.r.IntN(200) == 0 {
		h.lose(c)
	}
	c.rx += size
	h.now += 20_000
}

// lose is a segment that the network dropped.
func (h *host) lose(c *conn) {
	c.cwnd = max(c.cwnd/2, 2)
	segs := 1 + int64(h.r.IntN(5)) // a buffer of so many
	c.retrans += segs
	h.row("tcp_cong_state", h.soft(c, 21_000, 0)).tuple(c)
	h.row("tcp_retrans", h.soft(c, 22_000, 0)).tuple(c).num("tcp_seq", c.snd&0xffffffff).num("len_bytes", 1448*segs).num("retrans_segs", segs).num("err", 0).num("snd_cwnd", c.cwnd).
		name("state", "ESTABLISHED").name("ca_state", "recovery").name("retrans_kind", "R")
	if h.r.IntN(4) == 0 {
		h.row("tcp_tlp", h.soft(c, 23_000, 0)).tuple(c)
	}
}
