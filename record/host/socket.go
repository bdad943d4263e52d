package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// Messages of sock_diag(7), in the order and sizes of linux/inet_diag.h and
// linux/unix_diag.h. The requests are made here rather than by the netlink
// library's SocketDiag calls, which hold every socket of the host at once and make
// the kernel gather tcp_info for each.
const (
	inetRequestSize = 56
	inetMessageSize = 72
	unixRequestSize = 24
	unixMessageSize = 16

	inetProtocolAttr = 3 // INET_DIAG_REQ_PROTOCOL, for protocols above 255; since 5.9
	unixShowName     = 1 // UDIAG_SHOW_NAME
	unixDiagName     = 0 // UNIX_DIAG_NAME
)

// liveStates are all states but TIME_WAIT: such an entry is not a socket any more,
// has no owner, and a busy host has hundreds of thousands.
const liveStates = 1<<13 - 1 - 1<<unix.BPF_TCP_TIME_WAIT

// dumps are the kinds of sockets asked for. Kernels without raw or UNIX diagnosis
// answer ENOENT; those kinds are then left out. An MPTCP socket, which is what Go
// servers listen on, is not the TCP socket below it: both appear, each with its
// cookie.
var dumps = []struct {
	name     string
	family   uint8
	protocol uint16
	optional bool
}{
	{"TCP", unix.AF_INET, unix.IPPROTO_TCP, false},
	{"TCP over IPv6", unix.AF_INET6, unix.IPPROTO_TCP, true},
	{"UDP", unix.AF_INET, unix.IPPROTO_UDP, false},
	{"UDP over IPv6", unix.AF_INET6, unix.IPPROTO_UDP, true},
	{"MPTCP", unix.AF_INET, unix.IPPROTO_MPTCP, true},
	{"MPTCP over IPv6", unix.AF_INET6, unix.IPPROTO_MPTCP, true},
	{"raw", unix.AF_INET, unix.IPPROTO_RAW, true},
	{"raw IPv6", unix.AF_INET6, unix.IPPROTO_RAW, true},
	{"UNIX", unix.AF_UNIX, 0, true},
}

// sockets reads the sockets of a namespace. The kernel gives a
// socket its cookie when it is dumped, so every later event can carry it.
func (r *Report) sockets(inode uint32, at asked) {
	for _, d := range dumps {
		parse := parseInet
		if d.family == unix.AF_UNIX {
			parse = parseUnix
		}
		err := at.diag(d.family, d.protocol, func(msg []byte) {
			if len(r.Sockets) >= MaxSockets {
				r.left.sockets++
				return
			}
			if s, ok := parse(msg, d.protocol); ok {
				s.Netns = inode
				r.Sockets = append(r.Sockets, s)
			}
		})
		switch {
		case errors.Is(err, netlink.ErrDumpInterrupted):
			r.warn("%s sockets of network namespace %d changed while they were read, some may be missing", d.name, inode)
		case err != nil && !(d.optional && absent(err)):
			r.warn("%s sockets of network namespace %d: %v", d.name, inode, err)
		}
	}
}

// absent reports whether the kernel has no diagnosis of that kind.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL)
}

// request is the body of a netlink message.
type request []byte

// Len and Serialize make a request what the netlink library sends.
func (r request) Len() int          { return len(r) }
func (r request) Serialize() []byte { return r }

// asked is a netlink socket that belongs to a namespace; nil for one of the calling
// thread's.
type asked map[int]*nl.SocketHandle

// diag asks for all sockets of a kind and calls f for each answer; the bytes are
// only valid during the call.
func (at asked) diag(family uint8, protocol uint16, f func(msg []byte)) error {
	body := make(request, inetRequestSize)
	if family == unix.AF_UNIX {
		body = body[:unixRequestSize]
		binary.NativeEndian.PutUint32(body[12:], unixShowName)
	}
	body[0], body[1] = family, uint8(protocol)
	binary.NativeEndian.PutUint32(body[4:], liveStates)
	req := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
	req.Sockets = at
	req.AddData(body)
	if protocol > 0xff {
		req.AddData(nl.NewRtAttr(inetProtocolAttr, nl.Uint32Attr(uint32(protocol))))
	}
	return req.ExecuteIter(unix.NETLINK_INET_DIAG, nl.SOCK_DIAG_BY_FAMILY, func(msg []byte) bool {
		f(msg)
		return true
	})
}

// parseInet decodes a struct inet_diag_msg.
func parseInet(b []byte, protocol uint16) (schema.Socket, bool) {
	if len(b) < inetMessageSize {
		return schema.Socket{}, false
	}
	ne := binary.NativeEndian
	s := schema.Socket{
		Family:   family.Lookup(int64(b[0])),
		Protocol: protocols.Lookup(int64(protocol)),
		State:    schema.TCPStates.Lookup(int64(b[1])),
		Lport:    int(binary.BigEndian.Uint16(b[4:])),
		Rport:    int(binary.BigEndian.Uint16(b[6:])),
		Laddr:    address(b[0], b[8:24]),
		Raddr:    address(b[0], b[24:40]),
		Cookie:   cookie(b[44:]),
		UID:      ne.Uint32(b[64:]),
		Inode:    ne.Uint32(b[68:]),
	}
	if protocol == unix.IPPROTO_RAW { // the kernel keeps a raw socket's protocol where others have their port
		s.Protocol, s.Lport, s.Rport = protocols.Lookup(int64(s.Lport)), 0, 0
	}
	return s, true
}

// parseUnix decodes a struct unix_diag_msg and its name attribute. UNIX sockets
// have no protocol of their own: the socket type stands in its place.
func parseUnix(b []byte, _ uint16) (schema.Socket, bool) {
	if len(b) < unixMessageSize || b[0] != unix.AF_UNIX {
		return schema.Socket{}, false
	}
	s := schema.Socket{
		Family:   family.Lookup(unix.AF_UNIX),
		Protocol: types.Lookup(int64(b[1])),
		State:    schema.TCPStates.Lookup(int64(b[2])),
		Inode:    binary.NativeEndian.Uint32(b[4:]),
		Cookie:   cookie(b[8:]),
	}
	attrs, err := nl.ParseRouteAttr(b[unixMessageSize:])
	if err != nil {
		return s, true
	}
	for _, a := range attrs {
		if a.Attr.Type == unixDiagName {
			s.Laddr = unixName(a.Value)
		}
	}
	return s, true
}

var (
	family    = schema.Enums["family"]
	protocols = schema.Enums["protocol"]
	types     = schema.Enums["sock_type"]
)

// unixName writes an abstract name, which begins with a zero byte, with an @.
func unixName(b []byte) string {
	if len(b) > 0 && b[0] == 0 {
		return "@" + unix.ByteSliceToString(b[1:])
	}
	return unix.ByteSliceToString(b)
}

func cookie(b []byte) int64 {
	ne := binary.NativeEndian
	return int64(uint64(ne.Uint32(b)) | uint64(ne.Uint32(b[4:]))<<32)
}

func address(family uint8, b []byte) string {
	switch family {
	case unix.AF_INET:
		return netip.AddrFrom4([4]byte(b[:4])).String()
	case unix.AF_INET6:
		return netip.AddrFrom16([16]byte(b)).String()
	}
	return fmt.Sprintf("family %d", family)
}
