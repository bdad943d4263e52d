package host

import (
	"net"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

func TestParseCounters(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             map[string]int64
		err              string
	}{
		{"pairs", "snmp", "Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 23\nIcmpMsg: InType3\nIcmpMsg: 7\n",
			map[string]int64{"TcpRetransSegs": 23, "IcmpMsgInType3": 7}, ""},
		{"extension", "netstat", "IpExt: InNoECTPkts\nIpExt: 5\nMPTcpExt: MPCapableSYNRX\nMPTcpExt: 1\n",
			map[string]int64{"IpExtInNoECTPkts": 5, "MPTcpExtMPCapableSYNRX": 1}, ""},
		{"columns", "snmp6", "Ip6InReceives                   \t11\nIcmp6InMsgs\t2\n",
			map[string]int64{"Ip6InReceives": 11, "Icmp6InMsgs": 2}, ""},
		{"unsigned", "snmp6", "Ip6InOctets\t18446744073709551615\n", map[string]int64{"Ip6InOctets": -1}, ""},
		{"empty", "snmp", "", map[string]int64{}, ""},
		{"names alone", "snmp", "Tcp: A B\n", nil, "without values"},
		{"other prefix", "snmp", "Tcp: A\nUdp: 1\n", nil, "do not match"},
		{"too few", "netstat", "Tcp: A B\nTcp: 1\n", nil, "do not match"},
		{"not a number", "snmp", "Tcp: A\nTcp: x\n", nil, "counter TcpA"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string]int64{}
			err := parseCounters(got, tt.file, strings.NewReader(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("%v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestCountCPUs(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-3,8-11,16": 9, "": 0, "x": 0, "3-1": 0, "0-99999999999": 0} {
		if got := countCPUs(list); got != want {
			t.Errorf("countCPUs(%q) = %d, want %d", list, got, want)
		}
	}
}

func TestHandle(t *testing.T) {
	for h, want := range map[uint32]string{0xFFFFFFFF: "root", 0xFFFFFFF1: "ingress", 0x80010000: "8001:", 0x10002: "1:2", 0: "0:"} {
		if got := handle(h); got != want {
			t.Errorf("handle(%#x) = %q, want %q", h, got, want)
		}
	}
}

func TestParseSocketsRefusesShortMessages(t *testing.T) {
	for n := range inetMessageSize {
		if _, ok := parseInet(make([]byte, n), unix.IPPROTO_TCP); ok {
			t.Fatalf("accepted %d bytes", n)
		}
	}
	for n := range unixMessageSize {
		if _, ok := parseUnix(make([]byte, n), 0); ok {
			t.Fatalf("accepted %d bytes", n)
		}
	}
}

func TestUnixName(t *testing.T) {
	for in, want := range map[string]string{"\x00abstract": "@abstract", "/run/x.sock\x00": "/run/x.sock", "": ""} {
		if got := unixName([]byte(in)); got != want {
			t.Errorf("unixName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAnchor(t *testing.T) {
	a := Anchor("start")
	b := Anchor("stop")
	if a.At != "start" || a.Jitter < 0 || a.Mono <= 0 || b.Mono <= a.Mono {
		t.Errorf("anchors %+v, %+v", a, b)
	}
	// The two clocks tick alike: what differs is the time between the readings.
	if drift := (b.Wall - a.Wall) - (b.Mono - a.Mono); drift > a.Jitter+b.Jitter+1e6 || drift < -(a.Jitter+b.Jitter+1e6) {
		t.Errorf("clocks drifted %d ns between two readings", drift)
	}
}

func TestParseMount(t *testing.T) {
	for line, want := range map[string]namespace{
		"571 25 0:4 net:[4026532281] /run/netns/a\\040b rw shared:1 - nsfs nsfs rw": {inode: 4026532281, path: "/run/netns/a b"},
		"571 25 0:4 mnt:[4026532281] /run/x rw - nsfs nsfs rw":                      {},
		"571 25 0:4 net:[junk] /run/x rw - nsfs nsfs rw":                            {},
		"28 1 8:1 / / rw,relatime - ext4 /dev/root rw":                              {},
		"": {},
	} {
		got, ok := parseMount(line)
		if ok != (want.inode != 0) || ok && got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
}

// With the report full, what the kernel shows is counted but not kept.
func TestLimits(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	r := &Report{Sockets: make([]schema.Socket, MaxSockets), Interfaces: make([]schema.Interface, MaxInterfaces), Qdiscs: make([]schema.Qdisc, MaxQdiscs)}
	r.sockets(1, nil)
	r.devices(1)
	if len(r.Sockets) != MaxSockets || r.left.sockets < 1 {
		t.Errorf("%d sockets, %d left out", len(r.Sockets), r.left.sockets)
	}
	if len(r.Interfaces) != MaxInterfaces || r.left.interfaces < 1 || len(r.Qdiscs) != MaxQdiscs {
		t.Errorf("%d interfaces, %d left out, %d qdiscs", len(r.Interfaces), r.left.interfaces, len(r.Qdiscs))
	}
	r.left.warn(r)
	if len(r.Warnings) < 2 || !strings.Contains(r.Warnings[0], "beyond the first 200000") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestQdiscModules(t *testing.T) {
	const list = "sch_pie 20480 1 - Live 0x0000000000000000\nveth 40960 0 - Live 0x0000000000000000\nsch_htb 32768 2 - Live 0x0000000000000000\n"
	if got := qdiscModules(strings.NewReader(list)); len(got) != 2 || !got["sch_pie"] || !got["sch_htb"] {
		t.Errorf("modules %v", got)
	}
}
