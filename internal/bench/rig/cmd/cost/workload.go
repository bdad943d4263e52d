package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// workload is something done again and again by one thread.
type workload struct {
	name string
	make func() (op func() error, end func(), err error)
}

var loopback = [4]byte{127, 0, 0, 1}

// measured is each event with the work that causes it, the hook's counterpart for
// perf, and what is left out of both.
var measured = []struct {
	event string
	work  workload
	perf  string
}{
	{"sock_io", datagram, "sock:sock_send_length,sock:sock_recv_length"},
	{"sock_stack", datagram, "sock:sock_send_length,sock:sock_recv_length"},
	{"tcp_rcv_est", stream, "tcp:tcp_probe"},
	{"skb_consume", local, "skb:consume_skb"},
	{"skb_alloc", datagram, "kmem:kmem_cache_alloc"},
	{"skb_drop", dropped, "skb:kfree_skb"},
	{"tcp_state", connection, "sock:inet_sock_set_state"},
	{"sys_connect", connection, "syscalls:sys_enter_connect,syscalls:sys_exit_connect"},
	{"sys_accept", connection, "syscalls:sys_enter_accept,syscalls:sys_exit_accept"},
	{"sys_close", connection, "syscalls:sys_enter_close,syscalls:sys_exit_close"},
}

// datagram sends one byte over UDP and receives it.
var datagram = workload{"UDP send + receive of 1 byte", func() (func() error, func(), error) {
	from, to, err := datagrams()
	if err != nil {
		return nil, nil, err
	}
	buf := make([]byte, 1)
	return func() error {
		if _, err := unix.Write(from, buf); err != nil {
			return err
		}
		_, err := unix.Read(to, buf)
		return err
	}, func() { unix.Close(from); unix.Close(to) }, nil
}}

// local sends one byte between sockets of one host, which frees its packet the plain
// way; UDP has ways of its own that the tracepoint does not see.
var local = workload{"Unix datagram of 1 byte", func() (func() error, func(), error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	buf := make([]byte, 1)
	return func() error {
		if _, err := unix.Write(fds[0], buf); err != nil {
			return err
		}
		_, err := unix.Read(fds[1], buf)
		return err
	}, func() { unix.Close(fds[0]); unix.Close(fds[1]) }, nil
}}

// dropped sends one byte over UDP to a queue that is full.
var dropped = workload{"UDP send to a full queue", func() (func() error, func(), error) {
	from, to, err := datagrams()
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetsockoptInt(to, unix.SOL_SOCKET, unix.SO_RCVBUF, 1); err != nil {
		return nil, nil, err
	}
	buf := make([]byte, 1)
	op := func() error {
		_, err := unix.Write(from, buf)
		return err
	}
	for range 1000 {
		if err := op(); err != nil {
			return nil, nil, err
		}
	}
	return op, func() { unix.Close(from); unix.Close(to) }, nil
}}

func datagrams() (from, to int, err error) {
	if to, err = bound(unix.SOCK_DGRAM); err != nil {
		return 0, 0, err
	}
	sa, err := unix.Getsockname(to)
	if err != nil {
		return 0, 0, err
	}
	if from, err = bound(unix.SOCK_DGRAM); err != nil {
		return 0, 0, err
	}
	return from, to, unix.Connect(from, sa)
}

// stream sends one byte over TCP and receives it.
var stream = workload{"TCP send + receive of 1 byte", func() (func() error, func(), error) {
	ln, err := bound(unix.SOCK_STREAM)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(ln)
	client, err := dial(ln)
	if err != nil {
		return nil, nil, err
	}
	server, _, err := unix.Accept(ln)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetsockoptInt(client, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return nil, nil, err
	}
	buf := make([]byte, 1)
	return func() error {
		if _, err := unix.Write(client, buf); err != nil {
			return err
		}
		_, err := unix.Read(server, buf)
		return err
	}, func() { unix.Close(client); unix.Close(server) }, nil
}}

// connection connects over TCP, accepts and closes both ends, with a reset so that no
// port stays taken.
var connection = workload{"TCP connect + accept + 2 closes", func() (func() error, func(), error) {
	ln, err := bound(unix.SOCK_STREAM)
	if err != nil {
		return nil, nil, err
	}
	return func() error {
		client, err := dial(ln)
		if err != nil {
			return err
		}
		server, _, err := unix.Accept(ln)
		if err != nil {
			return err
		}
		if err := unix.SetsockoptLinger(client, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
			return err
		}
		unix.Close(client)
		return unix.Close(server)
	}, func() { unix.Close(ln) }, nil
}}

func bound(kind int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback}); err != nil {
		return 0, fmt.Errorf("bind: %w", err)
	}
	if kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, 16)
	}
	return fd, err
}

func dial(ln int) (int, error) {
	sa, err := unix.Getsockname(ln)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	return fd, unix.Connect(fd, sa)
}

// pin keeps the thread of the work on one CPU; the recorder mostly runs on another.
func pin() error {
	var set unix.CPUSet
	set.Set(0)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU 0: %w", err)
	}
	return nil
}
