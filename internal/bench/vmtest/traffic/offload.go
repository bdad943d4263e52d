package traffic

import (
	"encoding/json"
	"net/netip"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	ebpflink "github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// nowhere is an address on the link that has no machine; packets for it reach side B,
// which wants none of them.
var nowhere = netip.MustParseAddr("10.77.0.99")

// offloads has packets made from others: TCP hands down large ones, the sending device has
// them cut, the receiving one merges them again. Then a queue that damages packets has to
// copy them first, because TCP still needs what it sent.
func (w *worker) offloads() {
	if !w.link.veth {
		return // loopback neither cuts nor merges
	}
	defer w.merging()()
	w.segments("64")
	l := w.listen(B, unix.AF_INET, w.addr(B, "4", portOffload))
	c, s := w.connection(l, "blocking", "4", portOffload, 0)
	w.transfer(c, s, transferSize)
	w.finish(c, s)
	l.close()
	w.segments("1")
	w.copies()
}

// segments says how large a packet TCP may hand down. Behind an XDP program the other end
// takes none of them whole, and they are cut before this device.
func (w *worker) segments(most string) {
	if err := command("ip", "-n", w.link.names[A], "link", "set", deviceA, "gso_max_segs", most); err != nil {
		w.fail("%w", err)
	}
}

// merging lets side B's device merge what it receives and gives how to end that. Before
// 5.13 such a device does so only behind an XDP program; this one lets all pass. It also
// makes the other end cut packets before it sends them.
func (w *worker) merging() (end func()) {
	gro := func(state string) {
		if err := command("ip", "netns", "exec", w.link.names[B], "ethtool", "-K", deviceB, "gro", state); err != nil {
			w.fail("%w", err)
		}
	}
	gro("on")
	var list []struct{ Ifindex int }
	text := output("ip", "-n", w.link.names[B], "-j", "link", "show", deviceB)
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 {
		w.fail("asking for the number of %s: %q: %w", deviceB, text, err)
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		w.fail("lifting the limit on locked memory: %w", err)
	}
	const pass = 2 // XDP_PASS
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, pass), asm.Return()}})
	if err != nil {
		w.fail("loading an XDP program: %w", err)
	}
	w.in(B)
	l, err := ebpflink.AttachXDP(ebpflink.XDPOptions{Program: p, Interface: list[0].Ifindex})
	if err != nil {
		w.fail("attaching an XDP program to %s: %w", deviceB, err)
	}
	return func() {
		l.Close()
		p.Close()
		gro("off")
	}
}

// copies sends SYNs through a queue that changes a bit of each packet.
func (w *worker) copies() {
	if !w.link.netem {
		return
	}
	if err := command("ip", "-n", w.link.names[A], "neigh", "replace", nowhere.String(), "lladdr", macs[B], "dev", deviceA, "nud", "permanent"); err != nil {
		w.fail("%w", err)
	}
	w.reshape("corrupt", "100%")
	defer w.repair()
	sent := w.counter(A, "Dev."+deviceA+".tx_packets")
	to := netip.AddrPortFrom(nowhere, portOffload)
	var all []*socket
	for range w.want["copied"] {
		c := w.open("caller", A, unix.AF_INET, unix.SOCK_STREAM)
		c.setNonblock(true)
		_, errno := c.call(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) {
			return sysConnect(c.fd, rawAddr(to, c.Family))
		})
		c.expect(errno, unix.EINPROGRESS)
		all = append(all, c)
	}
	w.until("SYNs to leave", func() bool {
		return w.counter(A, "Dev."+deviceA+".tx_packets") >= sent+len(all)
	})
	for _, c := range all {
		c.close()
	}
}

// repair ends the damage. netem keeps what a change does not name, and whoever uses the link
// next would wait for answers in vain.
func (w *worker) repair() {
	w.reshape("delay", delayA, "corrupt", "0%")
	if now := output("tc", "-n", w.link.names[A], "qdisc", "show", "dev", deviceA); strings.Contains(now, "corrupt") {
		w.fail("%s still damages packets: %s", deviceA, now)
	}
}
