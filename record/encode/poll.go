package encode

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"netrec/schema"
)

// appendPollBits spells events: IN|OUT.
func appendPollBits(dst []byte, v uint32) []byte {
	return appendBits(dst, schema.PollEvents.Values, uint64(v))
}

// appendPollSet spells descriptors and their events, 5:IN|OUT,7:IN, and how many
// more there were than the record holds. A record of an unknown form is nothing.
func appendPollSet(dst, raw []byte) []byte {
	head := binary.LittleEndian.Uint64(raw)
	count, raw := int(head>>32), raw[8:]
	l := pollList{dst: dst, start: len(dst)}
	switch head & (1<<32 - 1) {
	case schema.PollWanted:
		l.pollfds(raw[:min(len(raw)/8, count)*8], false)
	case schema.PollReady:
		l.pollfds(raw, true)
	case schema.PollBits:
		l.bitmaps(raw, count)
		return l.dst // the count is not one of descriptors
	case schema.PollBitsOut:
		l.bitmaps(raw, len(raw)*8)
	case schema.PollEpoll:
		l.epoll(raw[:min(len(raw)/epollEvent, count)*epollEvent])
	default:
		return dst
	}
	if more := count - l.n; more > 0 {
		l.comma()
		l.dst = strconv.AppendInt(append(l.dst, '+'), int64(more), 10)
	}
	return l.dst
}

// pollList is a list of descriptors in the making.
type pollList struct {
	dst   []byte
	start int
	n     int // of what the call counts
}

func (l *pollList) comma() {
	if len(l.dst) > l.start {
		l.dst = append(l.dst, ',')
	}
}

func (l *pollList) add(fd int64, events uint32) {
	l.comma()
	l.dst = append(strconv.AppendInt(l.dst, fd, 10), ':')
	l.dst = appendPollBits(l.dst, events)
}

func (l *pollList) pollfds(raw []byte, ready bool) {
	for ; len(raw) >= 8; raw = raw[8:] {
		fd, events := int32(binary.LittleEndian.Uint32(raw)), binary.LittleEndian.Uint16(raw[4:])
		if ready {
			if events = binary.LittleEndian.Uint16(raw[6:]); events == 0 {
				continue
			}
		}
		l.add(int64(fd), uint32(events))
		l.n++
	}
}

// bitmaps merges the three sets of select; each bit counts, as it does in select's result.
func (l *pollList) bitmaps(raw []byte, nfds int) {
	const set = schema.PollWords * 8
	if len(raw) < 3*set {
		return
	}
	names := [3]uint32{0x1, 0x4, 0x2}
	for w := range schema.PollWords {
		var words [3]uint64
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(raw[i*set+w*8:])
		}
		for any := words[0] | words[1] | words[2]; any != 0; any &= any - 1 {
			bit := bits.TrailingZeros64(any)
			if w*64+bit >= nfds {
				return
			}
			var events uint32
			for i := range words {
				if words[i]>>bit&1 != 0 {
					events |= names[i]
					l.n++
				}
			}
			l.add(int64(w*64+bit), events)
		}
	}
}

// epollEvent is the length of struct epoll_event, which is packed on x86-64.
const epollEvent = 12

func (l *pollList) epoll(raw []byte) {
	for ; len(raw) >= epollEvent; raw = raw[epollEvent:] {
		l.comma()
		l.dst = strconv.AppendUint(append(l.dst, "0x"...), binary.LittleEndian.Uint64(raw[4:]), 16)
		l.dst = appendPollBits(append(l.dst, ':'), binary.LittleEndian.Uint32(raw))
		l.n++
	}
}
