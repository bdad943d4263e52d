package truth

import (
	"slices"

	"netrec/internal/bench/vmtest/traffic"
)

// The ends of the link on which large packets are cut and merged again.
const offloadSender, offloadReceiver = "va", "vb"

// merged is the packets that GRO put into others on a side.
func merged(c *Capture, l *traffic.Log, side traffic.Side) []Row {
	return c.Select("skb_derive", Is("derive_kind", "gro"), Num("ok", 1), Num("netns", int64(l.Namespaces[side].Inode)))
}

// checkOffloads holds packets that were made from others against what the devices and TCP
// counted: every piece of a large packet, every packet that GRO or TCP put into another,
// and every copy.
func checkOffloads(c *Capture, l *traffic.Log, want Expect) Errors {
	if slices.Contains(want.Missing, "skb_derive") || !l.Netem {
		return nil // no functions to hook, or no link that cuts and merges
	}
	rows, _ := phaseOf(c, l, "offload")
	derived := func(kind string) int { return rows("skb_derive", Is("derive_kind", kind), Num("ok", 1)) }
	i := slices.IndexFunc(l.Phases, func(p traffic.Phase) bool { return p.Kind == "offload" })
	if i < 0 {
		return Errors{"nothing was cut and merged"}
	}
	phase := l.Phases[i]
	sender, receiver := Is("dev", offloadSender), Is("dev", offloadReceiver)
	whole, pieces := 0, 0
	for _, r := range c.Select("dev_queue", ofRun(l), Between(phase.Begin, phase.End), sender) {
		if n := int(r.Int["gso_segs"]); n > 1 {
			whole, pieces = whole+1, pieces+n
		}
	}
	arrived, gone := rows("dev_gro_in", receiver), derived("gro")
	syns := l.Wanted["copied"] + rows("tcp_retrans", Is("state", "SYN_SENT"))
	errs := checkEquations(want, []equation{
		{"skb_derive", "pieces that packets stood for", derived("segment"), pieces},
		{"dev_start_xmit", "packets queued, in pieces", rows("dev_start_xmit", sender), rows("dev_queue", sender) - whole + pieces},
		{"dev_gro_in", "packets received", arrived, phase.Delta[traffic.B]["Dev."+offloadReceiver+".rx_packets"]},
		{"dev_recv", "packets received but for merged ones", rows("dev_recv", receiver), arrived - gone},
		{"skb_derive", "SYNs that were copied", derived("copy"), syns},
		{"skb_derive", "TcpExt.TCPRcvCoalesce", len(c.Select("skb_derive", ofRun(l), Is("derive_kind", "coalesce"), Num("ok", 1), ofSocket)), both(l, "TcpExt.TCPRcvCoalesce")},
	})
	if pieces == 0 || gone == 0 || both(l, "TcpExt.TCPRcvCoalesce") == 0 {
		errs.add("%d pieces were cut and %d packets merged", pieces, gone)
	}
	return errs
}
