package rig

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var loopback = [4]byte{127, 0, 0, 1}

// last is the number in the datagram that ends the receiver.
const last = ^uint64(0)

// datagrams sends numbered datagrams of changing size from one thread to another.
func (l *Load) datagrams(rate int) error {
	to, toPort, err := bound(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	from, fromPort, err := bound(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	l.ends = append(l.ends, func() { unix.Close(from); unix.Close(to) })
	if err := unix.Connect(from, &unix.SockaddrInet4{Addr: loopback, Port: toPort}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := unix.Connect(to, &unix.SockaddrInet4{Addr: loopback, Port: fromPort}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	var ended atomic.Bool
	err = l.spawn(func(t *thread) error {
		defer ended.Store(true)
		return receiveDatagrams(t.side("sock_io", "recv", toPort, fromPort), to)
	})
	if err != nil {
		return err
	}
	return l.spawn(func(t *thread) error {
		s, buf := t.side("sock_io", "send", fromPort, toPort), make([]byte, 2048)
		send := func(k uint64, n int) error {
			binary.LittleEndian.PutUint64(buf, k)
			_, err := s.call(func() (int, error) { return unix.SendmsgN(from, buf[:n], nil, nil, 0) })
			return err
		}
		if err := l.pace(rate, func(k int) error { return send(uint64(k), size(k)) }); err != nil {
			return err
		}
		// The receiver's queue may be full; what does not fit is dropped.
		for !ended.Load() {
			if err := send(last, 8); err != nil {
				return err
			}
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
		return nil
	})
}

func receiveDatagrams(s *Side, fd int) error {
	buf := make([]byte, 2048)
	for {
		n, err := s.call(func() (int, error) { return unix.Read(fd, buf) })
		if err != nil {
			return err
		}
		if n == 8 && binary.LittleEndian.Uint64(buf) == last {
			return nil
		}
	}
}

// rounds plays questions of changing size and short answers over one connection.
func (l *Load) rounds(rate int) error {
	ln, port, err := bound(unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	defer unix.Close(ln)
	client, server, err := pair(ln, port)
	if err != nil {
		return err
	}
	cport, err := portOf(client)
	if err != nil {
		return err
	}
	l.ends = append(l.ends, func() { unix.Close(client); unix.Close(server) })
	err = l.spawn(func(t *thread) error {
		return serveRounds(t.side("sock_io", "recv", port, cport), t.side("sock_io", "send", port, cport), server)
	})
	if err != nil {
		return err
	}
	return l.spawn(func(t *thread) error {
		defer unix.Shutdown(client, unix.SHUT_WR)
		out, in := t.side("sock_io", "send", cport, port), t.side("sock_io", "recv", cport, port)
		buf := make([]byte, 2048)
		return l.pace(rate, func(k int) error {
			binary.LittleEndian.PutUint32(buf, uint32(size(k)))
			if _, err := out.call(func() (int, error) { return unix.SendmsgN(client, buf[:4], nil, nil, 0) }); err != nil {
				return err
			}
			if _, err := out.call(func() (int, error) { return unix.SendmsgN(client, buf[:size(k)], nil, nil, 0) }); err != nil {
				return err
			}
			_, err := in.call(func() (int, error) { return receiveAll(client, buf[:8]) })
			return err
		})
	})
}

func serveRounds(in, out *Side, fd int) error {
	buf := make([]byte, 2048)
	for {
		n, err := in.call(func() (int, error) { return receiveAll(fd, buf[:4]) })
		if err != nil || n == 0 {
			return err
		}
		want := binary.LittleEndian.Uint32(buf)
		if _, err := in.call(func() (int, error) { return receiveAll(fd, buf[:want]) }); err != nil {
			return err
		}
		if _, err := out.call(func() (int, error) { return unix.SendmsgN(fd, buf[:8], nil, nil, 0) }); err != nil {
			return err
		}
	}
}

// receiveAll is one call that returns only with all bytes, or at the end.
func receiveAll(fd int, b []byte) (int, error) {
	n, _, err := unix.Recvfrom(fd, b, unix.MSG_WAITALL)
	return n, err
}

// connects makes connections and closes them.
func (l *Load) connects(rate int) error {
	ln, port, err := bound(unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	l.ends = append(l.ends, func() { unix.Close(ln) })
	err = l.spawn(func(t *thread) error {
		accepts, closes := t.side("sys_accept", "", 0, 0), t.side("sys_close", "", 0, 0)
		for {
			fd, err := accepts.call(func() (int, error) { fd, _, err := unix.Accept(ln); return fd, err })
			if errors.Is(err, unix.EINVAL) { // shut down: the end
				return nil
			}
			if err != nil {
				return err
			}
			if _, err := closes.call(func() (int, error) { return 0, unix.Close(fd) }); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	return l.spawn(func(t *thread) error {
		defer unix.Shutdown(ln, unix.SHUT_RDWR)
		connects, closes := t.side("sys_connect", "", 0, 0), t.side("sys_close", "", 0, 0)
		return l.pace(rate, func(int) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("socket: %w", err)
			}
			to := &unix.SockaddrInet4{Addr: loopback, Port: port}
			if _, err := connects.call(func() (int, error) { return 0, unix.Connect(fd, to) }); err != nil {
				return err
			}
			_, err = closes.call(func() (int, error) { return 0, unix.Close(fd) })
			return err
		})
	})
}
