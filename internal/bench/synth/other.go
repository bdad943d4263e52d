package synth

import "netrec/schema"

// lookup is a name that is looked up, and the datagrams for it.
func (h *host) lookup() {
	c := h.newConn(false)
	c.rport, c.far = 53, [4]byte{10, 0, 0, 53}
	took := 200_000 + h.wait(2_000_000)
	h.row("udp_connect", h.at(c, 1000)).tuple(c).num("ret", 0).ip("dest_addr", c.far).num("dest_port", 53).name("protocol", "udp")
	for i, dir := range [2]string{"send", "recv"} {
		after := 5000 + int64(i)*took
		h.row("udp_msg", h.at(c, after)).tuple(c).num("ret", 60).num("asked_bytes", 60+int64(i)*1000).name("func", [2]string{"udp_sendmsg", "udp_recvmsg"}[i]).name("dir", dir)
		h.row("sock_io", h.at(c, after+100)).tuple(c).num("ret", 60).num("msg_flags", 0).name("sock_type", "dgram").name("protocol", "udp").
			name("dir", dir).str("prot_name", "UDP").num("sk_rcvbuf", 212992)
	}
	h.row("udp_gone", h.at(c, took+9000)).tuple(c)
	a := h.at(c, took+10_000)
	a.sock = 0
	h.row("dns_call", a).num("dur_ns", took).num("ret", 0).str("host", lookupHosts[h.r.IntN(len(lookupHosts))]).num("lib", 6).name("func", "getaddrinfo")
	h.socks.put(uint64(c.sk), h.now+took+20_000)
	h.now += 20_000
}

var lookupHosts = []string{"www.example.org", "api.example.com", "db.internal", "metrics.internal", "cdn.example.net"}

// ping is an echo and its answer.
func (h *host) ping() {
	h.echo++
	far, skb := [4]byte{10, 0, 0, byte(2 + h.r.IntN(4))}, h.skbs.get(h.now)
	for i, dir := range [2]string{"send", "recv"} {
		from, to := localAddr, far
		if i == 1 {
			from, to = far, localAddr
		}
		a := at{ts: h.now + int64(i)*h.wait(500_000) + int64(i)*1000, who: h.procs[0], soft: i == 1, skb: skb}
		h.row("icmp_echo", a).ip("saddr", from).ip("daddr", to).num("icmp_id", 77).num("icmp_seq", h.echo&0xffff).num("icmp_type", int64(8-8*i)).
			name("dir", dir).num("len_bytes", 84).num("ifindex", 2).str("dev", "eth0")
	}
	h.skbs.put(skb, h.now+10_000_000)
	h.now += 10_000
}

// serve is a process that starts to listen, or finds the port taken.
func (h *host) serve() {
	c := h.newConn(true)
	c.far, c.rport = [4]byte{}, 0
	result := int64(0)
	if h.r.IntN(5) == 0 {
		result = -98
	}
	b := h.row("sys_bind", h.at(c, 1000)).tuple(c).num("dur_ns", 900).num("ret", result).num("fd", c.fd).name("sock_type", "stream").name("protocol", "tcp")
	b.ip("bind_addr", [4]byte{}).num("bind_port", int64(c.lport)).num("bind_opts", int64(8|h.r.IntN(32))).num("bound_ifindex", int64(h.r.IntN(3))).num("uid", 33)
	if result == 0 {
		h.row("sys_listen", h.at(c, 3000)).tuple(c).num("dur_ns", 700).num("ret", 0).num("backlog", 511).num("sk_max_ack_backlog", 511).num("fd", c.fd).
			name("sock_type", "stream").name("protocol", "tcp")
		h.state(c, h.at(c, 2900), "CLOSE", "LISTEN")
		h.state(c, h.at(c, 900_000), "LISTEN", "CLOSE")
	}
	h.row("sys_close", h.at(c, 910_000)).tuple(c).num("dur_ns", 800).num("ret", 0).num("fd", c.fd).num("fd_last", c.fd).name("func", "close")
	h.socks.put(uint64(c.sk), h.now+1_000_000)
	h.now += 5000
}

// sample is what the CPUs do at a tick.
func (h *host) sample() {
	paths := [][]int{pathSend, pathReceive, pathRead, pathWait, pathAnswer}
	for range cpus {
		r := h.row("cpu_sample", at{ts: h.now, who: h.someone()})
		if h.r.IntN(3) > 0 {
			path := paths[h.r.IntN(len(paths))]
			r.stack("kstack", h.kstack(path[:1+h.r.IntN(len(path))]))
		}
		r.stack("ustack", []uint64{userBase + h.r.Uint64N(8), userBase + 1, userBase, userBase + 8})
	}
	h.now += 1000
}

// anything makes a row of an event that has no scene of its own: identities of a
// connection where it has such columns, small numbers and known names elsewhere.
func (h *host) anything(m *maker) {
	c := h.conns[h.r.IntN(len(h.conns))]
	skb := h.skbs.get(h.now)
	h.skbs.put(skb, h.now+1000)
	r := h.row(m.event.Name, at{ts: h.now, who: c.who, sock: uint64(c.sk), skb: skb})
	fields := m.event.Fields()
	for i := range fields {
		f := &fields[i]
		col := &schema.Columns[f.Column]
		if col.Required || f.As == schema.AsMicros {
			continue
		}
		h.plausible(r, col.Name, f, c)
	}
	h.now += 1000
}

func (h *host) plausible(r row, col string, f *schema.Field, c *conn) {
	switch {
	case col == "family":
		r.put(f, afInet)
		return
	case col == "protocol":
		r.name(col, "tcp")
		return
	}
	switch f.As {
	case schema.AsEnum:
		vs := enumValues(f.Enum)
		r.put(f, vs[h.r.IntN(len(vs))].Value)
	case schema.AsIP:
		r.ip(col, c.far)
	case schema.AsStr:
		r.str(col, devices[h.r.IntN(len(devices))])
	case schema.AsKsym:
		r.addr(col, kernelBase+h.r.Uint64N(uint64(len(kernelNames))))
	case schema.AsKstack:
		r.stack(col, h.kstack(pathSend))
	case schema.AsUstack:
		r.stack(col, []uint64{userBase + 2, userBase + 1, userBase})
	case schema.AsRef:
		r.put(f, 6)
	case schema.AsAddr:
		r.addr(col, sockBase+h.r.Uint64N(64)*sockSize)
	case schema.AsInt, schema.AsBits:
		r.put(f, int64(h.r.IntN(100)))
	}
}
