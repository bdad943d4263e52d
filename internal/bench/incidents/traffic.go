package incidents

import (
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// service is the port that most incidents use.
const service = 8077

// answering reads requests of so many bytes, and answers each after a while with so many bytes,
// until the other side closes.
func answering(request, answer int, think time.Duration) func(*conn) {
	return func(c *conn) {
		defer c.Close()
		in, out := make([]byte, request), make([]byte, answer)
		for {
			if _, err := io.ReadFull(c, in); err != nil {
				return
			}
			time.Sleep(think)
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	}
}

// asking sends requests one after the other and reads the answers.
func asking(c *conn, request, answer, times int, pause time.Duration) error {
	in, out := make([]byte, answer), make([]byte, request)
	for range times {
		asked := time.Now()
		if _, err := c.Write(out); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, in); err != nil {
			return err
		}
		c.took = append(c.took, time.Since(asked))
		time.Sleep(pause)
	}
	return nil
}

// clients runs so many at once.
func clients(n int, each func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = each(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// short makes connections one after the other on n lines, each with one question and its answer.
// Errors are part of the incident.
func (s *stage) short(from *host, to [4]byte, lines, each int, answer int) {
	_ = clients(lines, func(int) error {
		for range each {
			if c, err := from.dial(to, service, 4*time.Second); err == nil {
				_ = c.SetDeadline(time.Now().Add(3 * time.Second))
				_ = asking(c, 100, answer, 1, 0)
				c.Close()
			}
		}
		return nil
	})
}

// moderate keeps a flow below what the wire carries, bytes a second: a host whose own device drops
// packets would be another incident.
const moderate = 8 << 20

// pour writes for a while, at a moderate rate.
func pour(c *conn, wait time.Duration, chunk int) int64 {
	c.set(unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, moderate)
	return flood(c, wait, chunk)
}

// flood writes for a while. Nothing paces it: TCP that paces sends no faster than its round trip allows, which is another
// reason to wait, and where a machine is slow the first.
func flood(c *conn, wait time.Duration, chunk int) int64 {
	_ = c.SetDeadline(time.Now().Add(wait))
	buf, n := make([]byte, chunk), int64(0)
	for {
		k, err := c.Write(buf)
		if n += int64(k); err != nil {
			return n
		}
	}
}

// drain reads everything and closes.
func drain(c *conn) {
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c})
	c.Close()
}

// paced reads slowly.
func paced(c *conn, each int, pause time.Duration) {
	buf := make([]byte, each)
	for {
		if _, err := c.Read(buf); err != nil {
			c.Close()
			return
		}
		time.Sleep(pause)
	}
}

// udp makes a socket of the host that is bound to the port.
func (s *stage) udp(h *host, port int, opts ...option) (*conn, error) {
	fd, err := h.open(unix.SOCK_DGRAM, opts)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port}); err != nil {
		return nil, err
	}
	c := newConn(fd)
	s.later(c)
	return c, nil
}

// nameserver answers DNS queries on the recorded host, each after a while, with this code; 0 means
// with an address, and -1 not at all.
func (s *stage) nameserver(code int, think time.Duration) error {
	return s.nameserverAt(s.here, [4]byte{127, 0, 0, 53}, code, think)
}

// nameserverAt is a nameserver of either host; it thinks about several queries at once.
func (s *stage) nameserverAt(h *host, addr [4]byte, code int, think time.Duration) error {
	fd, err := h.socket(unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: addr, Port: 53}); err != nil {
		return err
	}
	s.later(closer(func() error { _ = unix.Shutdown(fd, unix.SHUT_RDWR); return unix.Close(fd) }))
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := unix.Recvfrom(fd, buf, 0)
			if err != nil || n == 0 {
				return
			}
			if code >= 0 {
				answer := answerDNS(buf[:n], code)
				time.AfterFunc(think, func() { _ = unix.Sendto(fd, answer, 0, from) })
			}
		}
	}()
	return nil
}

// answerDNS is the answer to a query: 192.0.2.1 to one for an A record, nothing to others.
func answerDNS(q []byte, code int) []byte {
	if len(q) < 17 {
		return q
	}
	end := 12
	for end < len(q) && q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	if end > len(q) {
		return q
	}
	a := append([]byte{}, q[:end]...)
	a[2], a[3] = 0x81, 0x80|byte(code)
	copy(a[6:12], []byte{0, 0, 0, 0, 0, 0})
	if isA := q[end-3] == 1; isA && code == 0 {
		a[7] = 1
		a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)
	}
	return a
}
