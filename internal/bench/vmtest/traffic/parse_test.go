package traffic

import (
	"maps"
	"strings"
	"testing"
)

func TestParsePairs(t *testing.T) {
	got := map[string]int{}
	if err := parsePairs(strings.NewReader("Tcp: A B\nTcp: 1 -1\nUdp: A\nUdp: 7\n"), got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"Tcp.A": 1, "Tcp.B": -1, "Udp.A": 7}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, bad := range []string{"Tcp: A B\nTcp: 1\n", "Tcp: A\nUdp: 1\n", "Tcp: A\nTcp: x\n", "\n\n"} {
		if err := parsePairs(strings.NewReader(bad), got); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestParseInterrupts(t *testing.T) {
	got := map[string]int{}
	const text = `           CPU0       CPU1
  NET_RX:         10          3
   36:          1          2   PCI-MSI 1-edge   virtio1-req.0
   11:          5          6   IO-APIC   11-fasteoi   uhci, ehci
  ERR:          0
`
	if err := parseInterrupts(strings.NewReader(text), got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"NET_RX": 13, "36": 3}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseDevices(t *testing.T) {
	got := map[string]int{}
	const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    va: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
`
	if err := parseDevices(strings.NewReader(text), got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"Dev.va.rx_packets": 2, "Dev.va.rx_dropped": 4, "Dev.va.tx_packets": 10, "Dev.va.tx_dropped": 12}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReply(t *testing.T) {
	ask := func(name string, typ byte) []byte {
		q := []byte{9, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}
		for label := range strings.SplitSeq(name, ".") {
			q = append(q, byte(len(label)))
			q = append(q, label...)
		}
		return append(q, 0, 0, typ, 0, 1)
	}
	tests := []struct {
		name        string
		typ         byte
		code, count byte
	}{
		{"x.both.test", typeA, 0, 1}, {"X.Both.test", typeAAAA, 0, 1}, {"x.four.test", typeA, 0, 1},
		{"x.four.test", typeAAAA, 0, 0}, {"x.none.test", typeA, 3, 0}, {"both.test", typeA, 3, 0}, {"x.both.test", 15, 0, 0},
	}
	for _, tt := range tests {
		q := ask(tt.name, tt.typ)
		r := Answer(q)
		if len(r) < len(q) || r[0] != 9 || r[2]&0x80 == 0 || r[3]&0xf != tt.code || r[7] != tt.count {
			t.Errorf("%s type %d: answer % x", tt.name, tt.typ, r)
		}
	}
	q := ask("x.both.test", typeA)
	for n := range q {
		if r := Answer(q[:n]); r != nil {
			t.Errorf("%d of %d bytes are answered", n, len(q))
		}
	}
	for _, at := range []int{4, 12} {
		bad := append([]byte{}, q...)
		bad[at] = 0xff
		if r := Answer(bad); r != nil {
			t.Errorf("a question with byte %d wrong is answered", at)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"kind":  {Kinds: []string{"smoke"}},
		"count": {Counts: map[string]int{"tcp5": 1}},
	} {
		if _, err := Run(o); err == nil {
			t.Errorf("an unknown %s is taken", name)
		}
	}
}

func TestParseQueueStats(t *testing.T) {
	const text = `qdisc prio 10: root refcnt 3 bands 2 priomap 0 0 0
 Sent 18981 bytes 27 pkt (dropped 1, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc tbf 11: parent 10:1 rate 2Mbit burst 2999b limit 5000b
 Sent 7001 bytes 9 pkt (dropped 31, overlimits 58 requeues 0)
 backlog 12Kb 5p requeues 0
`
	if st, err := parseQueueStats(text, "11:"); err != nil || st != (queueStats{9, 31, 5}) {
		t.Errorf("got %+v, %v", st, err)
	}
	if _, err := parseQueueStats(text, "1:"); err == nil {
		t.Error("a handle was found that is not there")
	}
}
