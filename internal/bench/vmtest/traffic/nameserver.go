package traffic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nameServer answers on a thread of its own.
type nameServer struct {
	quit [2]int
	done chan error
}

// startServer binds port 53 on side B and answers until stopped.
func (w *worker) startServer() (*nameServer, error) {
	if _, err := exec.LookPath("getent"); err != nil {
		return nil, fmt.Errorf("finding getent: %w", err)
	}
	n := &nameServer{done: make(chan error, 1)}
	if err := unix.Pipe2(n.quit[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	ready := make(chan error, 1)
	go func() { n.done <- n.serve(w, ready) }()
	if err := <-ready; err != nil {
		_ = n.stop() // ends with err too
		return nil, err
	}
	return n, nil
}

// stop ends the server and gives what it ended with.
func (n *nameServer) stop() error {
	unix.Close(n.quit[1])
	err := <-n.done
	unix.Close(n.quit[0])
	return err
}

// serve owns its thread, which is in side B for good and ends with it.
func (n *nameServer) serve(main *worker, ready chan<- error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unexpected)
			if !ok {
				panic(r)
			}
			err = u.error
			select {
			case ready <- err:
			default:
			}
		}
	}()
	runtime.LockOSThread()
	w := &worker{log: main.log, link: main.link, kind: "dns", mu: main.mu, tid: unix.Gettid()}
	s := w.open("nameserver", B, unix.AF_INET, unix.SOCK_DGRAM)
	s.bind(w.addr(B, "4", 53))
	s.names()
	ready <- nil
	for {
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(n.quit[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			w.fail("waiting for questions: %w", err)
		}
		switch {
		case fds[0].Revents != 0:
			s.answer()
		case fds[1].Revents != 0:
			s.close()
			return nil
		}
	}
}

// answer takes one question and answers it after the delay.
func (s *socket) answer() {
	b := make([]byte, 1500)
	var from string
	n := s.must(Call{Name: "recvfrom", Asked: len(b)}, func() (int, unix.Errno) {
		n, peer, errno := sysRecvfrom(s.fd, b, 0, true)
		from = peer
		return n, errno
	})
	s.last().Peer = from
	s.Received += n
	to, err := netip.ParseAddrPort(from)
	reply := Answer(b[:n])
	if err != nil || reply == nil {
		return
	}
	time.Sleep(answerDelay)
	s.must(Call{Name: "sendto", Asked: len(reply), Peer: from}, func() (int, unix.Errno) {
		return sysSendto(s.fd, reply, 0, rawAddr(to, s.Family))
	})
	s.Sent += len(reply)
}

// Types and results of the name system.
const (
	typeA      = 1
	typeAAAA   = 28
	nameHeader = 12
)

// Answer answers one question: names below both.test have both addresses, below
// four.test IPv4 only, all others do not exist. Nil for what is no question.
func Answer(q []byte) []byte {
	if len(q) < nameHeader || q[2]&0x80 != 0 || binary.BigEndian.Uint16(q[4:]) != 1 {
		return nil
	}
	name, end := readName(q[nameHeader:])
	end += nameHeader
	if name == "" || len(q) < end+4 {
		return nil
	}
	var data []byte
	typ := binary.BigEndian.Uint16(q[end:])
	both, four := strings.HasSuffix(name, ".both.test"), strings.HasSuffix(name, ".four.test")
	switch {
	case typ == typeA && (both || four):
		data = []byte{192, 0, 2, 7}
	case typ == typeAAAA && both:
		a := netip.MustParseAddr("2001:db8::7").As16()
		data = a[:]
	}
	r := append([]byte{}, q[:end+4]...)
	r[2], r[3] = 0x85, 0x80 // an authoritative answer
	if !both && !four {
		r[3] |= 3 // no such name
	}
	clear(r[6:nameHeader])
	if data != nil {
		r[7] = 1
		r = append(r, 0xc0, nameHeader)
		r = binary.BigEndian.AppendUint16(r, typ)
		r = append(r, q[end+2:end+4]...)
		r = binary.BigEndian.AppendUint32(r, 60)
		r = binary.BigEndian.AppendUint16(r, uint16(len(data)))
		r = append(r, data...)
	}
	return r
}

// readName reads a name without compression and gives where it ends.
func readName(b []byte) (string, int) {
	var labels []string
	for i := 0; i < len(b); {
		n := int(b[i])
		if n == 0 {
			return strings.ToLower(strings.Join(labels, ".")), i + 1
		}
		if n > 63 || i+1+n > len(b) {
			break
		}
		labels = append(labels, string(b[i+1:i+1+n]))
		i += 1 + n
	}
	return "", 0
}
