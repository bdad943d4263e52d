package line

import (
	"cmp"
	"strconv"
	"strings"

	"netrec/analyze/agg"
)

// IPVersion is 4 or 6, by the form of an address.
func IPVersion(addr string) int64 {
	if strings.Contains(addr, ":") {
		return 6
	}
	return 4
}

// EndOf is an end as the BCC tools write it, without brackets around IPv6.
func EndOf(addr string, port int64) string { return addr + ":" + strconv.FormatInt(port, 10) }

// Mapped reports an IPv4 address, also in its form for IPv6 sockets.
func Mapped(addr string) bool {
	return addr != "" && (IPVersion(addr) == 4 || strings.HasPrefix(addr, "::ffff:"))
}

// Destination is where a socket that is not connected sent to.
type Destination struct {
	Serial int64
	Addr   string
	Port   int64
}

// Compare orders them by socket, then address and port.
func (d Destination) Compare(o Destination) int {
	return cmp.Or(cmp.Compare(d.Serial, o.Serial), cmp.Compare(d.Addr, o.Addr), cmp.Compare(d.Port, o.Port))
}

// DNSPort is the port of name servers.
const DNSPort = 53

// UnseenEnd is why a life is cut whose end is not in the recording.
const UnseenEnd = "end not seen"

// Unborn says why a life has no beginning: it is older than the recording, unless the row
// may be lost.
func Unborn(s *agg.Socket, gaps *agg.Gaps) string {
	if !s.Older && gaps.Between(0, s.First) {
		return "beginning not seen"
	}
	return "began before"
}
