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
		r := reply(q)
		if len(r) < len(q) || r[0] != 9 || r[2]&0x80 == 0 || r[3]&0xf != tt.code || r[7] != tt.count {
			t.Errorf("%s type %d: answer % x", tt.name, tt.typ, r)
		}
	}
	q := ask("x.both.test", typeA)
	for n := range q {
		if r := reply(q[:n]); r != nil {
			t.Errorf("%d of %d bytes are answered", n, len(q))
		}
	}
	for _, at := range []int{4, 12} {
		bad := append([]byte{}, q...)
		bad[at] = 0xff
		if r := reply(bad); r != nil {
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
