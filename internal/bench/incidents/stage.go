package incidents

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// Addresses of the two hosts.
var hereIP, thereIP = [4]byte{10, 77, 0, 1}, [4]byte{10, 77, 0, 2}

// host is one of the two.
type host struct {
	*rig.Namespace
	ip [4]byte
}

// stage is where one incident happens.
type stage struct {
	here, there *host
	wire        *wire
	dir         string
	resolvConf  string // of programs
	mu          sync.Mutex
	closers     []io.Closer
	clock       map[string][]time.Duration // see took
}

// newStage makes both hosts and the wire between them.
func newStage(dir string, p path) (*stage, error) {
	s := &stage{dir: dir, resolvConf: "nameserver 127.0.0.53\noptions timeout:1 attempts:1\n", wire: &wire{path: p, seed: 7}, clock: map[string][]time.Duration{}}
	for i, h := range []**host{&s.here, &s.there} {
		n, err := rig.New()
		if err != nil {
			return nil, err
		}
		*h = &host{n, [][4]byte{hereIP, thereIP}[i]}
		peer := [][4]byte{thereIP, hereIP}[i]
		if err := n.Do(func() (err error) { s.wire.ends[i], err = tun("wire0"); return err }); err != nil {
			return nil, err
		}
		err = (*h).sh("ip addr add %s peer %s dev wire0 && ip link set wire0 up txqueuelen 5000 && ip route add 10.0.0.0/9 dev wire0",
			net.IP((*h).ip[:]), net.IP(peer[:]))
		if err != nil {
			return nil, err
		}
	}
	go s.wire.run(true)
	go s.wire.run(false)
	return s, nil
}

// close ends everything that the incident left open.
func (s *stage) close() {
	for _, c := range s.closers {
		c.Close()
	}
	for _, e := range s.wire.ends {
		e.Close()
	}
	s.here.Close()
	s.there.Close()
}

func (s *stage) later(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, c)
}

// sh runs a command in the host's namespace.
func (h *host) sh(format string, args ...any) error {
	return h.Do(func() error {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(format, args...))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", cmd, err, out)
		}
		return nil
	})
}

// sysctl changes a setting of the host's network.
func (h *host) sysctl(name, value string) error {
	return h.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0o644) })
}

// socket makes one that belongs to the host.
func (h *host) socket(kind int) (fd int, err error) {
	err = h.Do(func() (err error) { fd, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0); return err })
	return fd, err
}

// option is a socket option set before a socket is connected or listens.
type option struct{ level, name, value int }

func (h *host) open(kind int, opts []option) (int, error) {
	fd, err := h.socket(kind)
	for _, o := range opts {
		err = errors.Join(err, unix.SetsockoptInt(fd, o.level, o.name, o.value))
	}
	return fd, err
}

// conn is an end of a connection.
type conn struct {
	*os.File
	fd   int
	took []time.Duration // from a question to its answer
}

func newConn(fd int) *conn {
	_ = unix.SetNonblock(fd, true)
	return &conn{File: os.NewFile(uintptr(fd), "socket"), fd: fd}
}

// set sets an option of a connection.
func (c *conn) set(level, name, value int) { _ = unix.SetsockoptInt(c.fd, level, name, value) }

// reset makes the next close send a reset.
func (c *conn) reset() {
	_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	c.Close()
}

// dial connects to a port of an address, and waits for at most so long.
func (h *host) dial(to [4]byte, port int, wait time.Duration, opts ...option) (*conn, error) {
	fd, err := h.open(unix.SOCK_STREAM, opts)
	if err != nil {
		return nil, err
	}
	tv := unix.NsecToTimeval(int64(wait))
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: to, Port: port})
	for err == unix.EINTR { // Go's runtime interrupts; the connect goes on
		err = unix.Connect(fd, &unix.SockaddrInet4{Addr: to, Port: port})
	}
	if err != nil && err != unix.EISCONN {
		unix.Close(fd)
		return nil, err
	}
	return newConn(fd), nil
}

// listen makes a listener; nobody accepts.
func (s *stage) listen(h *host, port, backlog int, opts ...option) (int, error) {
	fd, err := h.open(unix.SOCK_STREAM, append(opts, option{unix.SOL_SOCKET, unix.SO_REUSEADDR, 1}))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Port: port}), unix.Listen(fd, backlog)); err != nil {
		return 0, err
	}
	s.later(closer(func() error { _ = unix.Shutdown(fd, unix.SHUT_RDWR); return unix.Close(fd) }))
	return fd, nil
}

type closer func() error

func (c closer) Close() error { return c() }

// serve accepts connections and hands each to a goroutine of its own, which closes it. pause comes
// before each accept.
func (s *stage) serve(h *host, port int, pause time.Duration, handle func(*conn), opts ...option) error {
	fd, err := s.listen(h, port, 512, opts...)
	if err != nil {
		return err
	}
	go accepting(fd, func(c *conn) { go handle(c) }, pause)
	return nil
}

// accepting hands every connection of a listener on, until that is closed.
func accepting(fd int, handle func(*conn), pause time.Duration) {
	for {
		time.Sleep(pause)
		n, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return
		}
		handle(newConn(n))
	}
}

// program starts a command in the host's namespace, with the stage's resolv.conf.
func (s *stage) program(h *host, command string) error {
	conf := filepath.Join(s.dir, "resolv.conf")
	if err := os.WriteFile(conf, []byte(s.resolvConf), 0o644); err != nil {
		return err
	}
	return h.Do(func() error {
		cmd := exec.Command("sh", "-c", "mount --bind "+conf+" /etc/resolv.conf && { "+command+"; }")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(command, "|| true") {
			return fmt.Errorf("%s: %w: %s", command, err, out)
		}
		return nil
	})
}
