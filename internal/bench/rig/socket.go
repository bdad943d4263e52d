package rig

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bound makes a blocking socket on a free port of the loopback address; a stream
// socket listens.
func bound(kind int) (fd, port int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		return 0, 0, fmt.Errorf("socket: %w", err)
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback}); err != nil {
		return 0, 0, fmt.Errorf("bind: %w", err)
	}
	if kind == unix.SOCK_STREAM {
		if err = unix.Listen(fd, 128); err != nil {
			return 0, 0, fmt.Errorf("listen: %w", err)
		}
	}
	port, err = portOf(fd)
	return fd, port, err
}

func portOf(fd int) (int, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return 0, fmt.Errorf("find own port: %w", err)
	}
	return sa.(*unix.SockaddrInet4).Port, nil
}

// pair connects two stream sockets through a listener. Small writes are sent at once.
func pair(ln, port int) (client, server int, err error) {
	if client, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return 0, 0, fmt.Errorf("socket: %w", err)
	}
	if err = unix.Connect(client, &unix.SockaddrInet4{Addr: loopback, Port: port}); err != nil {
		return 0, 0, fmt.Errorf("connect: %w", err)
	}
	if server, _, err = unix.Accept4(ln, unix.SOCK_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("accept: %w", err)
	}
	for _, fd := range []int{client, server} {
		if err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return 0, 0, fmt.Errorf("set TCP_NODELAY: %w", err)
		}
	}
	return client, server, nil
}
