package incidents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Incidents and loads that were written after the rules, and that no threshold was chosen by.

// serverDies ends the peer's server while its clients talk; they connect anew, and nothing listens.
func serverDies(s *stage) error {
	var mu sync.Mutex
	var open []*conn
	fd, err := s.listen(s.there, 9123, 64)
	if err != nil {
		return err
	}
	go accepting(fd, func(c *conn) {
		mu.Lock()
		defer mu.Unlock()
		open = append(open, c)
		go answering(300, 1500, 0)(c)
	}, 0)
	time.AfterFunc(time.Second, func() {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR)
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			c.reset()
		}
	})
	return clients(8, func(int) error {
		for range 3 {
			c, err := s.here.dial(thereIP, 9123, time.Second)
			if err != nil {
				time.Sleep(100 * time.Millisecond)
				continue
			}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			_ = asking(c, 300, 1500, 1000, 30*time.Millisecond)
			c.Close()
		}
		return nil
	})
}

// locked is a server of which every other request waits for a lock that its holder keeps for long.
func locked(s *stage) error {
	var lock sync.Mutex
	return s.moody(6, 6, 700, 300, func(i int) {
		if i%2 == 1 {
			lock.Lock()
			time.Sleep(250 * time.Millisecond)
			lock.Unlock()
		}
	})
}

// narrowIn drops received packets above 1200 bytes.
func narrowIn(_ *wire, p packet, out bool) fate { return fate{drop: !out && len(p) > 1200} }

// bigAnswers asks for answers that do not fit through the path; small ones do.
func bigAnswers(s *stage) error {
	if err := s.serve(s.there, 9300, 0, answering(120, 6000, 0)); err != nil {
		return err
	}
	if err := s.serve(s.there, 9301, 0, answering(120, 400, 0)); err != nil {
		return err
	}
	return clients(10, func(i int) error {
		c, err := s.here.dial(thereIP, 9300+i%2, 3*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(3 * time.Second))
		_ = asking(c, 120, []int{6000, 400}[i%2], 5, 50*time.Millisecond)
		return nil
	})
}

// lateResolver asks a DNS server of the peer, which answers after the resolver has asked again.
func lateResolver(s *stage) error {
	if err := s.nameserverAt(s.there, thereIP, 0, 1300*time.Millisecond); err != nil {
		return err
	}
	s.resolvConf = "nameserver 10.77.0.2\noptions timeout:1 attempts:3\n"
	return s.program(s.here, "getent ahosts www.example >/dev/null || true; getent ahosts api.example >/dev/null || true")
}

// cramped is the environment variable of the child that has too few descriptors.
const cramped = "NETREC_CRAMPED"

// crampedServer accepts until it has no descriptor left, and goes on trying.
func crampedServer() {
	limit := syscall.Rlimit{Cur: 16, Max: 16}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	err = errors.Join(err, unix.Bind(fd, &unix.SockaddrInet4{Port: 9200}), unix.Listen(fd, 64), syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		if n, _, err := unix.Accept(fd); err != nil {
			time.Sleep(20 * time.Millisecond)
		} else {
			go answering(64, 640, 0)(newConn(n))
		}
	}
}

func tooManyFiles(s *stage) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var server *exec.Cmd
	err = s.here.Do(func() error {
		server = exec.Command(self)
		server.Env = append(os.Environ(), cramped+"=1")
		return server.Start()
	})
	if err != nil {
		return err
	}
	s.later(closer(func() error { _ = server.Process.Kill(); return server.Wait() }))
	for range 100 {
		c, err := s.there.dial(hereIP, 9200, time.Second)
		if err == nil {
			s.later(c)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return clients(25, func(int) error {
		c, err := s.there.dial(hereIP, 9200, 3*time.Second)
		if err != nil {
			return err
		}
		s.later(c)
		_ = c.SetDeadline(time.Now().Add(lasting))
		_ = asking(c, 64, 640, 50, 40*time.Millisecond)
		return nil
	})
}

// hiccup is a server that is quick but for every seventh answer, as one that now and then collects garbage.
func hiccup(s *stage) error {
	return s.moody(3, 45, 300, 500, func(i int) {
		if i%7 == 6 {
			time.Sleep(350 * time.Millisecond)
		}
	})
}

// moody is a server here that does something before it answers the i-th request of a connection, and clients there.
func (s *stage) moody(n, requests, asked, answered int, before func(i int)) error {
	const port = 7001
	err := s.serve(s.here, port, 0, func(c *conn) {
		defer c.Close()
		in, out := make([]byte, asked), make([]byte, answered)
		for i := 0; ; i++ {
			if _, err := c.Read(in); err != nil {
				return
			}
			before(i)
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return clients(n, func(int) error {
		c, err := s.there.dial(hereIP, port, 3*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		return asking(c, asked, answered, requests, 15*time.Millisecond)
	})
}

// healthyPolls is a service with requests and a few long polls, and one whose clients wait for news.
func healthyPolls(s *stage) error {
	polled := func(c *conn) {
		defer c.Close()
		for in := make([]byte, 250); ; {
			if n, err := c.Read(in); err != nil {
				return
			} else if n < 100 {
				time.Sleep(1200 * time.Millisecond)
			}
			if _, err := c.Write(make([]byte, 900)); err != nil {
				return
			}
		}
	}
	if err := errors.Join(s.serve(s.here, 9400, 0, polled), s.serve(s.here, 9401, 0, pushing(600*time.Millisecond, 80))); err != nil {
		return err
	}
	return clients(14, func(i int) error {
		c, err := s.there.dial(hereIP, 9400+i%7/6, 3*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		switch {
		case i%7 == 6:
			_ = c.SetReadDeadline(time.Now().Add(2500 * time.Millisecond))
			drain(c)
			return nil
		case i < 3:
			return asking(c, 60, 900, 2, 0)
		}
		return asking(c, 250, 900, 40, 50*time.Millisecond)
	})
}

// pushing writes now and then, and reads nothing.
func pushing(every time.Duration, size int) func(*conn) {
	return func(c *conn) {
		defer c.Close()
		for {
			if _, err := c.Write(make([]byte, size)); err != nil {
				return
			}
			time.Sleep(every)
		}
	}
}

// healthyShaped is a transfer through a slower link before this host: TCP finds its rate by losing a little.
func healthyShaped(s *stage) error {
	if err := s.there.sh("tc qdisc add dev wire0 root tbf rate 24mbit burst 12000 limit 150000"); err != nil {
		return err
	}
	return download(s)
}

// healthyQueries are many questions by UDP, each from a socket of its own.
func healthyQueries(s *stage) error {
	in, err := s.udp(s.there, 5355)
	if err != nil {
		return err
	}
	go echo(in.fd)
	return clients(6, func(int) error {
		for range 40 {
			if err := query(s.here, thereIP, 5355, 45); err != nil {
				return err
			}
			time.Sleep(8 * time.Millisecond)
		}
		return nil
	})
}

// query asks once by UDP and closes.
func query(h *host, to [4]byte, port, size int) error {
	fd, err := h.socket(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: to, Port: port}); err != nil {
		return err
	}
	tv := unix.NsecToTimeval(3e9)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	buf := make([]byte, size)
	if _, err := unix.Write(fd, buf); err != nil {
		return err
	}
	for {
		if _, err := unix.Read(fd, buf); err != unix.EINTR {
			return err
		}
	}
}
