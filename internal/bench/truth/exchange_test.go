package truth

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// messageBytes is odd, as all counts here.
const messageBytes = 333

func (x *exchange) socket(mapped bool) (int, unix.Sockaddr, error) {
	kind := unix.SOCK_STREAM
	if x.Net == "udp" {
		kind = unix.SOCK_DGRAM
	}
	family, sa := unix.AF_INET, unix.Sockaddr(nil)
	if x.Addr.Addr().Is6() || mapped {
		family, sa = unix.AF_INET6, &unix.SockaddrInet6{Port: int(x.Addr.Port()), Addr: x.Addr.Addr().As16()}
	} else {
		sa = &unix.SockaddrInet4{Port: int(x.Addr.Port()), Addr: x.Addr.Addr().As4()}
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	return fd, sa, err
}

func (x *exchange) listen() (int, error) {
	fd, sa, err := x.socket(false)
	if err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, sa); err != nil {
		return 0, err
	}
	if x.Net == "udp" {
		return fd, nil
	}
	return fd, unix.Listen(fd, 16)
}

// serve echoes the messages of all connections and closes the socket.
func (x *exchange) serve(fd int) error {
	if x.Net == "udp" {
		buf := make([]byte, messageBytes)
		for range x.Msgs {
			n, from, err := unix.Recvfrom(fd, buf, 0)
			if err != nil {
				return err
			}
			if err := unix.Sendto(fd, buf[:n], 0, from); err != nil {
				return err
			}
		}
		return unix.Close(fd)
	}
	for range max(1, x.Conns) {
		conn, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err != nil {
			return err
		}
		if err := echo(conn); err != nil {
			return err
		}
	}
	return unix.Close(fd)
}

// echo sends back what comes until the other end closes.
func echo(conn int) error {
	buf := make([]byte, messageBytes)
	for {
		n, err := unix.Read(conn, buf)
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.Close(conn)
		}
		if _, err := unix.Write(conn, buf[:n]); err != nil {
			return err
		}
	}
}

// connect makes one connection and closes it when every message has come back.
func (x *exchange) connect() error {
	fd, sa, err := x.socket(x.Mapped)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, sa); err != nil {
		return err
	}
	buf := make([]byte, messageBytes)
	for range x.Msgs {
		if _, err := unix.Write(fd, buf); err != nil {
			return err
		}
		for got := 0; got < messageBytes; {
			n, err := unix.Read(fd, buf)
			if err != nil {
				return err
			}
			got += n
		}
	}
	return unix.Close(fd)
}

// ping asks both loopback addresses for echoes and waits for each.
func ping(n int) error {
	if n == 0 {
		return nil
	}
	for _, v := range []struct {
		family, proto  int
		request, reply byte
		header         int // of IP, which IPv4 shows
		to             unix.Sockaddr
	}{
		{unix.AF_INET, unix.IPPROTO_ICMP, 8, 0, 20, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}},
		{unix.AF_INET6, unix.IPPROTO_ICMPV6, 128, 129, 0, &unix.SockaddrInet6{Addr: netip.IPv6Loopback().As16()}},
	} {
		fd, err := unix.Socket(v.family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, v.proto)
		if err != nil {
			return err
		}
		for seq := range n {
			msg := []byte{v.request, 0, 0, 0, 0x77, 0x77, 0, byte(seq)}
			if v.family == unix.AF_INET { // the kernel sums up ICMPv6 only
				sum := ^(uint32(v.request)<<8 + 0x7777 + uint32(seq))
				msg[2], msg[3] = byte(sum>>8), byte(sum)
			}
			if err := unix.Sendto(fd, msg, 0, v.to); err != nil {
				return err
			}
			for buf := make([]byte, 128); ; {
				got, _, err := unix.Recvfrom(fd, buf, 0)
				if err != nil {
					return err
				}
				if got > v.header && buf[v.header] == v.reply {
					break
				}
			}
		}
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	return nil
}
