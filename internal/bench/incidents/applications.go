package incidents

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func refused(s *stage) error {
	for range 5 {
		if _, err := s.here.dial(thereIP, service, time.Second); !errors.Is(err, unix.ECONNREFUSED) {
			return fmt.Errorf("a connect that should be refused: %w", err)
		}
	}
	return nil
}

func unreachable(s *stage) error {
	for range 5 {
		if _, err := s.here.dial([4]byte{203, 0, 113, 1}, service, time.Second); !errors.Is(err, unix.ENETUNREACH) {
			return fmt.Errorf("a connect without a route: %w", err)
		}
	}
	return nil
}

func prohibited(s *stage) error {
	if err := s.here.sh("ip route add prohibit 203.0.113.0/24"); err != nil {
		return err
	}
	for range 5 {
		if _, err := s.here.dial([4]byte{203, 0, 113, 1}, service, time.Second); !errors.Is(err, unix.EACCES) {
			return fmt.Errorf("a connect that is forbidden: %w", err)
		}
	}
	return nil
}

func givesUp(s *stage) error {
	return clients(4, func(int) error {
		if c, err := s.here.dial(thereIP, service, 1500*time.Millisecond); err == nil {
			return errors.Join(c.Close(), errors.New("a connect without a peer was answered"))
		}
		return nil
	})
}

func hangs(s *stage) error {
	for range 4 {
		go func() { _, _ = s.here.dial(thereIP, service, 8*time.Second) }()
	}
	time.Sleep(2500 * time.Millisecond)
	return nil
}

func acceptQueue(s *stage) error {
	if _, err := s.listen(s.here, service, 3); err != nil {
		return err
	}
	return clients(20, func(int) error {
		if c, err := s.there.dial(hereIP, service, lasting); err == nil {
			s.later(c)
		}
		return nil
	})
}

func slowAccept(s *stage) error {
	if err := s.serve(s.here, service, 150*time.Millisecond, answering(100, 100, 0)); err != nil {
		return err
	}
	return clients(10, func(int) error {
		c, err := s.there.dial(hereIP, service, 3*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		return asking(c, 100, 100, 1, 0)
	})
}

func synFlood(s *stage) error {
	if err := errors.Join(s.here.sysctl("tcp_syncookies", "0"), s.here.sysctl("tcp_max_syn_backlog", "16")); err != nil {
		return err
	}
	if _, err := s.listen(s.here, service, 16); err != nil {
		return err
	}
	for i := range 300 {
		s.wire.forge([4]byte{10, 78, byte(i >> 8), byte(i)}, hereIP, 1024+i, service, uint32(i), 0, 2)
	}
	time.Sleep(time.Second)
	return nil
}

// nagle writes each request in two parts; the peer's delayed ACK holds the second one back.
func nagle(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(200, 100, 0)); err != nil {
		return err
	}
	c, err := s.here.dial(thereIP, service, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	part, answer := make([]byte, 100), make([]byte, 100)
	for range 40 {
		for range 2 {
			if _, err := c.Write(part); err != nil {
				return err
			}
		}
		if _, err := io.ReadFull(c, answer); err != nil {
			return err
		}
	}
	return nil
}

// each asks once on every of n connections, one after the other.
func (s *stage) each(from *host, to [4]byte, n int, use func(*conn)) error {
	for range n {
		c, err := from.dial(to, service, time.Second)
		if err != nil {
			return err
		}
		_ = c.SetDeadline(time.Now().Add(time.Second))
		use(c)
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func once(c *conn) { _ = asking(c, 100, 100, 1, 0) }

func resetUnread(s *stage) error {
	err := s.serve(s.here, service, 0, func(c *conn) { time.Sleep(5 * time.Millisecond); c.Close() })
	if err != nil {
		return err
	}
	return s.each(s.there, hereIP, 20, once)
}

func resetLinger(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	return s.each(s.here, thereIP, 20, func(c *conn) { once(c); c.reset() })
}

func resetByPeer(s *stage) error {
	n := 0
	err := s.serve(s.there, service, 0, func(c *conn) {
		if n++; n%3 != 0 {
			answering(100, 100, 0)(c)
			return
		}
		_, _ = c.Read(make([]byte, 100))
		c.reset()
	})
	if err != nil {
		return err
	}
	return s.each(s.here, thereIP, 30, once)
}

func resetByPeerQuiet(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	return s.each(s.here, thereIP, 30, once)
}

func noListener(s *stage) error {
	for range 6 {
		if _, err := s.there.dial(hereIP, service, time.Second); !errors.Is(err, unix.ECONNREFUSED) {
			return fmt.Errorf("a connect that should be refused: %w", err)
		}
	}
	return nil
}

func keepalive(s *stage) error {
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	for range 6 {
		c, err := s.here.dial(thereIP, service, time.Second, option{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1}, option{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 1},
			option{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 1}, option{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 1})
		if err != nil {
			return err
		}
		s.later(c)
		if err := asking(c, 100, 100, 1, 0); err != nil {
			return err
		}
	}
	s.wire.mu.Lock()
	s.wire.seen[0] = 1 << 20
	s.wire.mu.Unlock()
	time.Sleep(3 * time.Second)
	return nil
}

// lookups asks for eight names with this answer.
func lookups(code int, think time.Duration, found bool) func(*stage) error {
	return func(s *stage) error {
		if err := s.nameserver(code, think); err != nil {
			return err
		}
		n, or := 6, ""
		if code < 0 {
			n = 2 // each takes its second
		}
		if !found {
			or = " || true"
		}
		var calls []string
		for i := range n {
			calls = append(calls, fmt.Sprintf("getent ahosts name%d.example >/dev/null%s", i%3, or))
		}
		return s.program(s.here, strings.Join(calls, "; "))
	}
}

func ports(s *stage) error {
	if err := s.here.sysctl("ip_local_port_range", "40000 40019"); err != nil {
		return err
	}
	if err := s.serve(s.there, service, 0, answering(100, 100, 0)); err != nil {
		return err
	}
	for range 30 {
		if c, err := s.here.dial(thereIP, service, time.Second); err == nil {
			s.later(c)
		}
	}
	return nil
}

func closeWait(s *stage) error {
	err := s.serve(s.here, service, 0, func(c *conn) {
		_ = asking(c, 100, 100, 1, 0)
		s.later(c)
	})
	if err != nil {
		return err
	}
	if err := s.each(s.there, hereIP, 12, once); err != nil {
		return err
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

// talk is n connections that each ask so many times.
func (s *stage) talk(from, to *host, n, times, request, answer int, think, pause time.Duration) error {
	if err := s.serve(to, service, 0, answering(request, answer, think)); err != nil {
		return err
	}
	return clients(n, func(int) error {
		began := time.Now()
		c, err := from.dial(to.ip, service, 3*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		s.took("slow-connects", time.Since(began))
		err = asking(c, request, answer, times, pause)
		s.took("slow-answers", c.took...)
		return err
	})
}

func thinkTime(s *stage) error {
	return s.talk(s.there, s.here, 4, 3, 100, 2000, 800*time.Millisecond, 0)
}

func slowUpstream(s *stage) error {
	return s.talk(s.here, s.there, 4, 3, 100, 2000, 800*time.Millisecond, 0)
}
