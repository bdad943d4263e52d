package traffic

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls are made by number, so that the log can promise which system call
// it was: libraries choose for themselves between accept and accept4.

func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(unexpected{fmt.Errorf("reading the clock: %w", err)})
	}
	return ts.Nano()
}

func sys3(nr, a, b, c uintptr) (int, unix.Errno) {
	r, _, errno := unix.Syscall(nr, a, b, c)
	return int(r), errno
}

func sysSocket(family, typ int) (int, unix.Errno) {
	return sys3(unix.SYS_SOCKET, uintptr(family), uintptr(typ|unix.SOCK_CLOEXEC), 0)
}

func sysListen(fd, backlog int) (int, unix.Errno) {
	return sys3(unix.SYS_LISTEN, uintptr(fd), uintptr(backlog), 0)
}

func sysClose(fd int) (int, unix.Errno) { return sys3(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

func sysCloseRange(first, last, flags int) (int, unix.Errno) {
	return sys3(unix.SYS_CLOSE_RANGE, uintptr(first), uintptr(last), uintptr(flags))
}

func sysShutdown(fd, how int) (int, unix.Errno) {
	return sys3(unix.SYS_SHUTDOWN, uintptr(fd), uintptr(how), 0)
}

func sysBind(fd int, addr []byte) (int, unix.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&addr[0])), uintptr(len(addr)))
	return int(r), errno
}

func sysConnect(fd int, addr []byte) (int, unix.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&addr[0])), uintptr(len(addr)))
	return int(r), errno
}

// sysAccept passes no peer buffer at all when the peer is not wanted.
func sysAccept(fd int, withPeer, four bool) (int, string, unix.Errno) {
	var raw [128]byte
	size := uint32(len(raw))
	var p, ps unsafe.Pointer
	if withPeer {
		p, ps = unsafe.Pointer(&raw[0]), unsafe.Pointer(&size)
	}
	var r uintptr
	var errno unix.Errno
	if four {
		r, _, errno = unix.Syscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(p), uintptr(ps), unix.SOCK_CLOEXEC, 0, 0)
	} else {
		r, _, errno = unix.Syscall(unix.SYS_ACCEPT, uintptr(fd), uintptr(p), uintptr(ps))
	}
	peer := ""
	if withPeer && errno == 0 {
		peer = parseRaw(raw[:min(int(size), len(raw))])
	}
	return int(r), peer, errno
}

// pointer is the address of a buffer, nil for an empty one.
func pointer(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Pointer(&b[0])
}

func sysSendto(fd int, b []byte, flags int, addr []byte) (int, unix.Errno) {
	r, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(pointer(b)), uintptr(len(b)),
		uintptr(flags), uintptr(pointer(addr)), uintptr(len(addr)))
	return int(r), errno
}

func sysRecvfrom(fd int, b []byte, flags int, withPeer bool) (int, string, unix.Errno) {
	var raw [128]byte
	size := uint32(len(raw))
	var p, ps unsafe.Pointer
	if withPeer {
		p, ps = unsafe.Pointer(&raw[0]), unsafe.Pointer(&size)
	}
	r, _, errno := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(pointer(b)), uintptr(len(b)),
		uintptr(flags), uintptr(p), uintptr(ps))
	peer := ""
	if withPeer && errno == 0 && size > 0 {
		peer = parseRaw(raw[:min(int(size), len(raw))])
	}
	return int(r), peer, errno
}

// rw is read and write, on which sockets take no flags.
func rw(nr uintptr, fd int, b []byte) (int, unix.Errno) {
	r, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(pointer(b)), uintptr(len(b)))
	return int(r), errno
}

// vec splits b in two, as scattered buffers usually are.
func vec(b []byte) []unix.Iovec {
	half := len(b) / 2
	out := make([]unix.Iovec, 0, 2)
	for _, part := range [][]byte{b[:half], b[half:]} {
		if len(part) > 0 {
			v := unix.Iovec{Base: &part[0]}
			v.SetLen(len(part))
			out = append(out, v)
		}
	}
	return out
}

// rwv is readv and writev.
func rwv(nr uintptr, fd int, b []byte) (int, unix.Errno) {
	v := vec(b)
	r, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&v[0])), uintptr(len(v)))
	return int(r), errno
}

// msg is sendmsg and recvmsg; addr may be empty.
func msg(nr uintptr, fd int, b []byte, flags int, addr []byte) (int, unix.Errno) {
	h := header(b, addr)
	r, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&h)), uintptr(flags))
	return int(r), errno
}

func header(b, addr []byte) unix.Msghdr {
	v := vec(b)
	var h unix.Msghdr
	if len(v) > 0 {
		h.Iov = &v[0]
		h.SetIovlen(len(v))
	}
	if len(addr) > 0 {
		h.Name, h.Namelen = &addr[0], uint32(len(addr))
	}
	return h
}

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
	_   uint32
}

// mmsg is sendmmsg and recvmmsg: one message for each buffer. It gives the
// bytes of each message that the kernel handled.
func mmsg(nr uintptr, fd int, bufs [][]byte, flags int, addr []byte) (int, []int, unix.Errno) {
	hs := make([]mmsghdr, len(bufs))
	for i, b := range bufs {
		hs[i].hdr = header(b, addr)
	}
	r, _, errno := unix.Syscall6(nr, uintptr(fd), uintptr(unsafe.Pointer(&hs[0])), uintptr(len(hs)), uintptr(flags), 0, 0)
	if errno != 0 {
		return int(r), nil, errno
	}
	lens := make([]int, r)
	for i := range lens {
		lens[i] = int(hs[i].n)
	}
	return int(r), lens, 0
}

// rawAddr is an address as the kernel reads it: for a socket of family inet6 an
// IPv4 address is given mapped.
func rawAddr(a netip.AddrPort, family string) []byte {
	if family == "inet" {
		b := make([]byte, unix.SizeofSockaddrInet4)
		binary.NativeEndian.PutUint16(b, unix.AF_INET)
		binary.BigEndian.PutUint16(b[2:], a.Port())
		ip := a.Addr().As4()
		copy(b[4:], ip[:])
		return b
	}
	b := make([]byte, unix.SizeofSockaddrInet6)
	binary.NativeEndian.PutUint16(b, unix.AF_INET6)
	binary.BigEndian.PutUint16(b[2:], a.Port())
	ip := a.Addr().As16()
	copy(b[8:], ip[:])
	return b
}

// rawUnix is an abstract name of the UNIX family.
func rawUnix(name string) []byte {
	b := make([]byte, 3, 3+len(name))
	binary.NativeEndian.PutUint16(b, unix.AF_UNIX)
	return append(b, name...)
}

// parseRaw reads an address that the kernel wrote.
func parseRaw(b []byte) string {
	switch {
	case len(b) >= unix.SizeofSockaddrInet4 && binary.NativeEndian.Uint16(b) == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])).String()
	case len(b) >= unix.SizeofSockaddrInet6 && binary.NativeEndian.Uint16(b) == unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), binary.BigEndian.Uint16(b[2:])).String()
	}
	return ""
}

func addrString(a unix.Sockaddr) string {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrUnix:
		return a.Name
	}
	return ""
}

func familyName(family int) string {
	return map[int]string{unix.AF_INET: "inet", unix.AF_INET6: "inet6", unix.AF_UNIX: "unix"}[family]
}

func typeName(typ int) string {
	return map[int]string{unix.SOCK_STREAM: "stream", unix.SOCK_DGRAM: "dgram", unix.SOCK_RAW: "raw"}[typ&0xf]
}
