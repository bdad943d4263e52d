package incidents

import (
	"time"

	"golang.org/x/sys/unix"
)

// blackhole loses everything.
func blackhole(*wire, packet, bool) fate { return fate{drop: true} }

// losing drops some of the packets of one direction.
func losing(percent uint32, out bool, which func(packet) bool) func(*wire, packet, bool) fate {
	return func(w *wire, p packet, o bool) fate { return fate{drop: o == out && which(p) && w.chance(percent)} }
}

// overtaking delays one received packet in so many.
func overtaking(percent uint32, late time.Duration) func(*wire, packet, bool) fate {
	return func(w *wire, p packet, out bool) fate {
		if !out && p.data() && w.chance(percent) {
			return fate{late: late}
		}
		return fate{}
	}
}

// dying loses everything after so many packets.
func dying(after int) func(*wire, packet, bool) fate {
	return func(w *wire, _ packet, _ bool) fate { return fate{drop: w.seen[0]+w.seen[1] > after} }
}

// narrow drops packets above 1300 bytes.
func narrow(_ *wire, p packet, _ bool) fate { return fate{drop: len(p) > 1300} }

// forging answers every tenth request with a reset in the peer's name.
func forging(w *wire, p packet, out bool) fate {
	if out && p.data() && w.chance(30) {
		src, dst := [4]byte(p[16:20]), [4]byte(p[12:16])
		w.forge(src, dst, p.dport(), int(p[20])<<8|int(p[21]), p.ackno(), 0, 4)
		return fate{drop: true}
	}
	return fate{}
}

// flows: this host sends to or receives from the peer for a while.

func upload(s *stage) error {
	if err := s.serve(s.there, service, 0, drain); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second)
	if err != nil {
		return err
	}
	pour(c, lasting, 32<<10)
	return c.Close()
}

func uploadDies(s *stage) error {
	if err := s.serve(s.there, service, 0, drain); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second)
	if err != nil {
		return err
	}
	s.later(c)
	pour(c, 3*time.Second, 32<<10)
	return nil
}

func uploadBig(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second)
	if err != nil {
		return err
	}
	s.later(c)
	if err := asking(c, 100, 100, 5, 0); err != nil {
		return err
	}
	pour(c, 3*time.Second, 32<<10)
	return nil
}

func download(s *stage) error {
	if err := s.serve(s.there, service, 0, func(c *conn) { pour(c, lasting, 32<<10); c.Close() }); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second)
	if err != nil {
		return err
	}
	drain(c)
	return nil
}

// shaped sends more than a shaper of this host lets through, which queues so many bytes.
func shaped(queue int) func(s *stage) error {
	return func(s *stage) error {
		if err := s.here.sh("tc qdisc add dev wire0 root tbf rate 8mbit burst 5000 limit %d", queue); err != nil {
			return err
		}
		return uploads(s, 12)
	}
}

// uploads are so many long flows at once.
func uploads(s *stage, n int) error {
	if err := s.serve(s.there, service, 0, drain); err != nil {
		return err
	}
	return clients(n, func(int) error {
		c, err := s.here.dial(thereIP, service, 3*time.Second)
		if err != nil {
			return err
		}
		pour(c, lasting, 32<<10)
		return c.Close()
	})
}

func manyConnects(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	s.short(s.here, thereIP, 12, 3, 100)
	return nil
}

func shortClient(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 4000, 0)); err != nil {
		return err
	}
	s.short(s.here, thereIP, 12, 4, 4000)
	return nil
}

func shortServer(s *stage) error {
	if err := s.serve(s.here, service, 0, answering(100, 4000, 0)); err != nil {
		return err
	}
	s.short(s.there, hereIP, 12, 4, 4000)
	return nil
}

func peerReadsSlowly(s *stage) error {
	if err := s.serve(s.there, service, 0, func(c *conn) { paced(c, 64<<10, 300*time.Millisecond) }, option{unix.SOL_SOCKET, unix.SO_RCVBUF, 32 << 10}); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second)
	if err != nil {
		return err
	}
	pour(c, lasting, 32<<10)
	return c.Close()
}

func weReadSlowly(s *stage) error {
	if err := s.serve(s.there, service, 0, func(c *conn) { pour(c, lasting, 32<<10); c.Close() }); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second, option{unix.SOL_SOCKET, unix.SO_RCVBUF, 32 << 10})
	if err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(lasting))
	paced(c, 32<<10, 250*time.Millisecond)
	return nil
}

func smallSendBuffer(s *stage) error {
	if err := s.serve(s.there, service, 0, drain); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, 3*time.Second, option{unix.SOL_SOCKET, unix.SO_SNDBUF, 8 << 10})
	if err != nil {
		return err
	}
	flood(c, lasting, 32<<10)
	return c.Close()
}

func udpOverflow(s *stage) error {
	in, err := s.udp(s.here, service, option{unix.SOL_SOCKET, unix.SO_RCVBUF, 8 << 10})
	if err != nil {
		return err
	}
	fd, err := s.there.socket(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: hereIP, Port: service}); err != nil {
		return err
	}
	buf := make([]byte, 1000)
	for range 20 {
		for range 20 {
			_, _ = unix.Write(fd, buf)
		}
		time.Sleep(50 * time.Millisecond)
		_, _ = in.Read(buf)
	}
	return nil
}
