package synth

// devices of the host.
var devices = []string{"eth0", "eth1"}

func (r row) device(c *conn, size int64) row {
	i := int(c.far[1]) % len(devices)
	return r.str("dev", devices[i]).num("ifindex", int64(2+i)).num("len_bytes", size)
}

// transmit sends a packet: a clone of what waits for its acknowledgement goes through
// the queue to the driver, which frees it later.
func (h *host) transmit(c *conn, size int64) {
	c.segsOut += 1 + size/1448
	wire := size + 66
	kept, skb := h.skbs.get(h.now), h.skbs.get(h.now)
	queued, sent, acked := h.wait(20_000), h.wait(40_000), 300_000+h.wait(800_000)
	task := func(after int64, skb uint64) at {
		return at{ts: h.now + after, who: c.who, sock: uint64(c.sk), skb: skb}
	}
	h.row("skb_alloc", task(1000, kept)).num("alloc_bytes", size).num("fclone", 1).name("func", "__alloc_skb")
	h.row("skb_derive", task(3500, skb)).addr("parent_skb", kept).num("len_bytes", wire).num("ok", 1).name("derive_kind", "clone")
	h.row("dev_queue", task(4000, skb)).device(c, wire).num("gso_size", 1448*min(size/1449, 1)).num("gso_segs", min(size/1448, 44)).name("ethertype", "ipv4")
	h.qdiscRow("qdisc_enq", task(4200, skb), c, wire)
	h.qdiscRow("qdisc_deq", task(4300+queued, skb), c, wire).num("packets", 1)
	h.row("dev_start_xmit", task(4500+queued, skb)).device(c, wire).num("queue", int64(c.who.pid)%4).name("ethertype", "ipv4").
		num("gso_size", 1448*min(size/1449, 1)).num("gso_segs", min(size/1448, 44))
	path := pathSend
	if h.r.IntN(4) == 0 {
		path = pathAnswer
	}
	h.row("dev_xmit", task(4800+queued, skb)).device(c, wire).num("rc", 0).stack("kstack", h.kstack(path))
	h.free(c, skb, 5000+queued+sent)
	h.free(c, kept, acked)
}

func (h *host) qdiscRow(event string, a at, c *conn, size int64) row {
	kinds := [2]string{"fq_codel", "fq"}
	i := int64(c.far[1]) % 2
	return h.row(event, a).device(c, size).addr("qdisc", h.qdisc+uint64(i)*512).str("qdisc_kind", kinds[i]).num("qdisc_handle", (0x8001+i)<<16).
		num("qdisc_parent", 0xffffffff).num("qlen", int64(h.r.IntN(40))).num("backlog_bytes", int64(h.r.IntN(40))*1514)
}

// free is the regular end of a packet.
func (h *host) free(c *conn, skb uint64, after int64) {
	h.row("skb_consume", h.soft(c, after, skb)).addr("location", kernelBase+17+h.r.Uint64N(8))
	h.row("skb_free", h.soft(c, after+100, skb)).name("func", "skb_release_data")
	h.skbs.put(skb, h.now+after+200)
}

// arrive is a packet that an interrupt brings, with the process that reads it.
func (h *host) arrive(c *conn, size int64) {
	c.segsIn++
	wire, skb := size+66, h.skbs.get(h.now)
	read := 30_000 + h.wait(60_000)
	if h.r.IntN(3) == 0 {
		h.interrupts(skb)
	}
	h.row("skb_alloc", h.soft(c, 1000, skb)).num("alloc_bytes", 2048).name("func", "__build_skb_around")
	h.row("dev_gro_in", h.soft(c, 1500, skb)).device(c, wire).name("ethertype", "ipv4")
	if h.r.IntN(8) == 0 {
		h.merge(c, skb)
	}
	h.row("dev_recv", h.soft(c, 2500, skb)).device(c, wire).name("ethertype", "ipv4")
	e := h.row("tcp_rcv_est", h.soft(c, 4000, skb)).num("cookie", c.cookie).num("snd_una", c.snd&0xffffffff).num("snd_nxt", c.snd&0xffffffff)
	e.num("snd_cwnd", c.cwnd).num("snd_ssthresh", 0x7fffffff).num("sk_sndbuf", 87040).num("sk_wmem_queued", int64(h.r.IntN(40))*2304).num("srtt_us", 400)
	switch h.r.IntN(4) {
	case 0, 1:
		h.row("sys_poll", h.at(c, read-2000)).num("dur_ns", read).num("ret", 1).num("nfds", 64).num("epfd", 4).name("func", "epoll_wait")
	case 2:
		h.row("sys_poll", h.at(c, read-2000)).num("dur_ns", read).num("ret", 1).num("nfds", int64(1)<<(c.who.pid%8)).name("func", "poll")
	}
	h.row("sock_io", h.at(c, read)).tuple(c).num("ret", size).num("asked_bytes", 16384).num("msg_flags", 0).name("sock_type", "stream").
		name("protocol", "tcp").name("dir", "recv").str("prot_name", "TCP").num("sk_rmem_alloc", size).num("sk_rcvbuf", 131072)
	h.row("tcp_msg", h.at(c, read-100)).tuple(c).num("ret", size).num("asked_bytes", 16384).name("func", "tcp_recvmsg").name("dir", "recv")
	h.row("sys_read", h.at(c, read+300)).num("dur_ns", 2000).num("ret", size).num("fd", c.fd).name("func", "recvfrom")
	h.free(c, skb, read)
}

// merge is a further packet that GRO puts into one that is there already.
func (h *host) merge(c *conn, into uint64) {
	skb := h.skbs.get(h.now)
	h.row("skb_alloc", h.soft(c, 1600, skb)).num("alloc_bytes", 2048).name("func", "__build_skb_around")
	h.row("dev_gro_in", h.soft(c, 1700, skb)).device(c, 1514).name("ethertype", "ipv4")
	h.row("skb_derive", h.soft(c, 1800, skb)).addr("parent_skb", into).num("len_bytes", 1514).num("ok", 1).name("derive_kind", "gro")
	h.row("skb_free", h.soft(c, 1900, skb)).name("func", "napi_skb_free_stolen_head")
	h.skbs.put(skb, h.now+2000)
}

// interrupts is a hard interrupt and the soft one it starts.
func (h *host) interrupts(skb uint64) {
	a := at{ts: h.now, who: h.someone(), soft: true, skb: skb}
	h.row("irq", a).num("dur_ns", h.wait(2000)).str("irq_name", "eth0-rx-0").num("irq", 35).name("irq_ret", "handled")
	a.ts += 8000
	vector := [4]string{"NET_RX", "NET_RX", "NET_TX", "TIMER"}[h.r.IntN(4)]
	h.row("softirq", a).num("dur_ns", h.wait(6000)).name("vector", vector)
}

// drop is a packet that is thrown away.
func (h *host) drop(c *conn) {
	skb := h.skbs.get(h.now)
	h.row("skb_alloc", h.soft(c, 0, skb)).num("alloc_bytes", 2048).name("func", "__build_skb_around")
	h.row("skb_drop", h.soft(c, 2000, skb)).addr("location", kernelBase+23).num("drop_reason", int64(2+h.r.IntN(5))).num("len_bytes", 120).
		ip("saddr", c.far).ip("daddr", c.local).num("sport", int64(c.rport)).num("dport", int64(c.lport)).name("ethertype", "ipv4").
		name("protocol", "tcp").name("state", "ESTABLISHED").stack("kstack", h.kstack(pathReceive))
	h.row("skb_free", h.soft(c, 2100, skb)).name("func", "skb_release_data")
	h.skbs.put(skb, h.now+2200)
	h.now += 1000
}
