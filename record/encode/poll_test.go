package encode

import (
	"encoding/binary"
	"testing"

	"netrec/schema"
)

// pollRaw makes a field of conversion pollset.
func pollRaw(words int, form, count uint32, body ...byte) []byte {
	raw := make([]byte, words*8)
	binary.LittleEndian.PutUint64(raw, uint64(form)|uint64(count)<<32)
	copy(raw[8:], body)
	return raw
}

// selectRaw has bits set in the three maps of select, by descriptor.
func selectRaw(form, count uint32, in, out, except []int) []byte {
	raw := pollRaw(25, form, count)
	for i, set := range [][]int{in, out, except} {
		for _, fd := range set {
			raw[8+i*schema.PollWords*8+fd/8] |= 1 << (fd % 8)
		}
	}
	return raw
}

func TestPollSets(t *testing.T) {
	two := []byte{5, 0, 0, 0, 5, 0, 1, 0, 255, 255, 255, 255, 1, 0, 0, 0}
	epoll := []byte{0x11, 0x20, 0, 0x80, 0xef, 0xbe, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}
	for _, c := range []struct {
		name, want string
		raw        []byte
	}{
		{"none", "", pollRaw(17, schema.PollNone, 3)},
		{"unknown form", "", pollRaw(17, 99, 3, two...)},
		{"wanted", "5:IN|OUT,-1:IN", pollRaw(17, schema.PollWanted, 2, two...)},
		{"wanted, none", "", pollRaw(17, schema.PollWanted, 0, two...)},
		{"ready", "5:IN", pollRaw(25, schema.PollReady, 1, two...)},
		{"ready beyond the cap", "5:IN,+2", pollRaw(25, schema.PollReady, 3, two...)},
		{"timed out", "", pollRaw(25, schema.PollReady, 0)},
		{"select", "0:IN,3:IN|OUT,200:PRI", selectRaw(schema.PollBits, 201, []int{0, 3}, []int{3}, []int{200})},
		{"select, bits beyond nfds", "0:IN", selectRaw(schema.PollBits, 3, []int{0, 3}, nil, nil)},
		{"select, ready", "3:IN|OUT,64:OUT,+1", selectRaw(schema.PollBitsOut, 4, []int{3}, []int{3, 64}, nil)},
		{"epoll", "0xbeef:IN|HUP|RDHUP|ET,0x9:OUT", pollRaw(25, schema.PollEpoll, 2, epoll...)},
		{"epoll, one of two in memory", "0xbeef:IN|HUP|RDHUP|ET", pollRaw(25, schema.PollEpoll, 1, epoll...)},
	} {
		if got := string(appendPollSet(nil, c.raw)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for v, want := range map[uint32]string{0: "0", 1: "IN", 0x1005: "IN|OUT|0x1000", 1 << 31: "ET"} {
		if got := string(appendPollBits(nil, v)); got != want {
			t.Errorf("events %#x: %q, want %q", v, got, want)
		}
	}
}
