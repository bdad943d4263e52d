package incidents

import (
	"time"

	"golang.org/x/sys/unix"
)

func healthyKeepAlive(s *stage) error {
	return s.talk(s.there, s.here, 20, 100, 200, 8000, 0, 5*time.Millisecond)
}

func healthyShort(s *stage) error {
	if err := s.serve(s.here, service, 0, answering(100, 4000, 0)); err != nil {
		return err
	}
	s.short(s.there, hereIP, 4, 100, 4000)
	return nil
}

func healthyShortClient(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 4000, 0)); err != nil {
		return err
	}
	s.short(s.here, thereIP, 4, 100, 4000)
	return nil
}

func healthyFar(s *stage) error {
	return s.talk(s.here, s.there, 10, 30, 200, 20000, 0, 10*time.Millisecond)
}

func healthyIdle(s *stage) error {
	return s.talk(s.there, s.here, 15, 3, 100, 500, 0, 700*time.Millisecond)
}

func healthyCrowd(s *stage) error {
	return s.talk(s.there, s.here, 60, 20, 100, 2000, 2*time.Millisecond, 20*time.Millisecond)
}

func healthyUDP(s *stage) error {
	in, err := s.udp(s.here, service)
	if err != nil {
		return err
	}
	go echo(in.fd)
	fd, err := s.there.socket(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: hereIP, Port: service}); err != nil {
		return err
	}
	tv := unix.NsecToTimeval(1e9)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	buf := make([]byte, 500)
	for range 300 {
		if _, err := unix.Write(fd, buf); err != nil {
			return err
		}
		if _, err := unix.Read(fd, buf); err != nil {
			return err
		}
		time.Sleep(4 * time.Millisecond)
	}
	return nil
}

// echo answers every datagram with itself.
func echo(fd int) {
	buf := make([]byte, 1500)
	for {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EAGAIN {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return
		}
		_ = unix.Sendto(fd, buf[:n], 0, from)
	}
}
