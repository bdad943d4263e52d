package truth

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"netrec/schema"
)

// softirqProof: a packet of a wanted socket was handled on top of an unwanted task, and
// the other way round. Row by row they have been compared; here it must have happened.
func softirqProof(t *testing.T, p *play, got *Capture) {
	on := func(c *Capture, comm, owner string) int {
		return len(c.Select("tcp_state", p.during, Is("ctx", "softirq"), Is("comm", comm), func(r *Row) bool { return p.owner(r) == owner }))
	}
	if a, b := on(p.all, "nr-left", "nr-right"), on(got, "nr-left", "nr-right"); a == 0 || a != b {
		t.Errorf("%d rows of wanted sockets on top of an unwanted task, %d without the filter", b, a)
	}
	if a, b := on(p.all, "nr-right", "nr-left"), on(got, "nr-right", "nr-left"); a == 0 || b != 0 {
		t.Errorf("%d rows of unwanted sockets on top of a wanted task, %d without the filter", b, a)
	}
}

// datagrams: so many were sent and so many received.
func datagrams(n int) func(*testing.T, *play, *Capture) {
	return func(t *testing.T, p *play, got *Capture) {
		for _, event := range []string{"dev_queue", "dev_recv"} {
			if rows := len(got.Select(event, p.during)); rows != n {
				t.Errorf("%d rows of %s, want %d", rows, event, n)
			}
		}
	}
}

// On loopback nobody but the actors talks, so what is neither datagram nor echo is TCP.
const (
	loopbackDatagrams = 2 * (13 + 15)
	loopbackEchoes    = 2 * 2 * pings
)

func segments(t *testing.T, p *play, got *Capture) {
	for _, event := range []string{"dev_queue", "dev_recv"} {
		all, rows := len(p.all.Select(event, p.during, Is("dev", "lo"))), len(got.Select(event, p.during, Is("dev", "lo")))
		if rows == 0 || rows != all-loopbackDatagrams-loopbackEchoes {
			t.Errorf("%d rows of %s, %d without the filter, of which %d are not TCP", rows, event, all, loopbackDatagrams+loopbackEchoes)
		}
	}
}

func echoes(t *testing.T, p *play, got *Capture) {
	for _, event := range []string{"dev_queue", "dev_recv"} {
		if rows := len(got.Select(event, p.during, Is("dev", "lo"))); rows != loopbackEchoes {
			t.Errorf("%d rows of %s, want %d", rows, event, loopbackEchoes)
		}
	}
	if rows := len(got.Select("icmp_echo", p.during)); rows != 2*loopbackEchoes {
		t.Errorf("%d rows of icmp_echo, want %d", rows, 2*loopbackEchoes)
	}
}

// onDevice: all packets of the device and none of another.
func onDevice(dev string) func(*testing.T, *play, *Capture) {
	return func(t *testing.T, p *play, got *Capture) {
		for _, event := range []string{"dev_queue", "dev_recv"} {
			want, here, all := p.all.Select(event, p.during, Is("dev", dev)), got.Select(event, p.during, Is("dev", dev)), got.Select(event, p.during)
			if len(want) == 0 || len(here) != len(want) || len(all) != len(here) {
				t.Errorf("%d rows of %s, %d of them on %s, want %d", len(all), event, len(here), dev, len(want))
			}
		}
	}
}

// bothNamespaces: what happens in either is there, and nothing of a third.
func bothNamespaces(t *testing.T, _ *play, got *Capture) {
	seen, calls := map[int64]int{}, map[int64]int{}
	for _, r := range got.Rows {
		if seen[r.Int["netns"]]++; r.Event == "sock_io" {
			calls[r.Int["netns"]]++
		}
	}
	if len(seen) != 2 || len(calls) != 2 {
		t.Errorf("rows of namespaces %v, calls in %v", seen, calls)
	}
}

// otherNamespace: the calls of the actor there, of which the number is known, and nothing
// of this one.
func otherNamespace(t *testing.T, p *play, got *Capture) {
	want := 0
	for _, x := range p.byPort {
		switch {
		case x.Server != "nr-far":
		case x.Net == "udp":
			want += 2 * x.Msgs
		default:
			want += max(1, x.Conns) * (2*x.Msgs + 1) // the last read finds the end
		}
	}
	rows := got.Select("sock_io", p.during, ended)
	if lost := lostRows(got, "sock_io"); len(rows) > want || len(rows)+lost < want {
		t.Errorf("%d sends and receives and %d lost, want %d: %v", len(rows), lost, want, byCall(rows))
	}
	for _, c := range []*Capture{got, p.all} {
		seen := map[int64]int{}
		for _, r := range c.Rows {
			seen[r.Int["netns"]]++
		}
		if len(seen) != 1 {
			t.Errorf("rows of namespaces %v in one recording", seen)
		}
	}
	for _, r := range rows {
		if r.Str["comm"] != "nr-far" {
			t.Errorf("a row of %s", r.Str["comm"])
		}
	}
}

// sampleKeep, sampleOf and sampleSeed are what the cases ask for.
const sampleKeep, sampleOf, sampleSeed = 1, 3, 7

// bySample: connections by their hash, from whichever end; the rest stays.
func bySample(p *play, r *Row) bool {
	local := addrPort(r.Str["laddr"], r.Int["lport"])
	remote := addrPort(r.Str["raddr"], r.Int["rport"])
	for _, peer := range []string{"dest", "peer"} {
		if (r.Event == "udp_msg" || r.Event == "sys_connect") && r.Int[peer+"_port"] != 0 {
			remote = addrPort(r.Str[peer+"_addr"], r.Int[peer+"_port"])
		}
	}
	if r.Event == "sys_connect" {
		local = p.localEnd(r)
	}
	return local.Port() == 0 || remote.Port() == 0 || sampled(local, remote, sampleKeep, sampleOf, sampleSeed)
}

func addrPort(addr string, port int64) netip.AddrPort {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(port))
}

// localEnd finds the end that a connect got, which its row does not have, in the nearest
// row of the socket that does.
func (p *play) localEnd(r *Row) netip.AddrPort {
	var found netip.AddrPort
	nearest := int64(1) << 62
	for i := range p.all.Rows {
		o := &p.all.Rows[i]
		if o.Int["sock"] != r.Int["sock"] || o.Int["lport"] == 0 || o.Int["rport"] != r.Int["dest_port"] {
			continue
		}
		if d := max(o.TS-r.TS, r.TS-o.TS); d < nearest {
			nearest, found = d, addrPort(o.Str["laddr"], o.Int["lport"])
		}
	}
	return found
}

// sameConnections: of the connections between the two namespaces, each end has those that
// the hash names, and so both have the same.
func sameConnections(t *testing.T, p *play, got *Capture) {
	pairs := func(c *Capture, when func(client, server netip.AddrPort) bool) map[string]bool {
		set := map[string]bool{}
		for _, r := range c.Select("tcp_state", p.during, Is("new_state", "ESTABLISHED")) {
			client, server := addrPort(r.Str["laddr"], r.Int["lport"]), addrPort(r.Str["raddr"], r.Int["rport"])
			if p.byPort[int64(client.Port())].Server != "" {
				client, server = server, client
			}
			if p.byPort[int64(server.Port())].Server == "nr-far" && when(client, server) {
				set[fmt.Sprint(client, server)] = true
			}
		}
		return set
	}
	every := pairs(p.all, func(_, _ netip.AddrPort) bool { return true })
	want := pairs(p.all, func(a, b netip.AddrPort) bool { return sampled(a, b, sampleKeep, sampleOf, sampleSeed) })
	have := pairs(got, func(_, _ netip.AddrPort) bool { return true })
	if len(every) != 1+31+17 || len(want) == 0 || len(want) == len(every) || !maps.Equal(want, have) {
		t.Errorf("%d connections of %d, want %d: %v, want %v", len(have), len(every), len(want),
			slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
	if s := got.Meta.Recording.Sample; s == nil || *s != (schema.Sample{Keep: sampleKeep, Of: sampleOf, Seed: sampleSeed}) {
		t.Errorf("the file says %v", s)
	}
}
