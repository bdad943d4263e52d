package host

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

// TestWaitsOn: only calls that wait for a socket to give something count, by their descriptor.
func TestWaitsOn(t *testing.T) {
	for _, c := range []struct {
		line string
		fd   int
		ok   bool
	}{
		{fmt.Sprintf("%d 0x5 0x7ffe 0x200 0x0 0x0 0x0 0x7ffe 0x7f00", unix.SYS_RECVFROM), 5, true},
		{fmt.Sprintf("%d 0x3 0x0", unix.SYS_ACCEPT4), 3, true},
		{fmt.Sprintf("%d 0x3 0x0", unix.SYS_WRITE), 0, false},
		{"running", 0, false},
		{"-1 0x7ffe 0x7f00", 0, false},
		{"", 0, false},
	} {
		if fd, ok := waitsOn(c.line); fd != c.fd || ok != c.ok {
			t.Errorf("%q: %d, %v, want %d, %v", c.line, fd, ok, c.fd, c.ok)
		}
	}
}

// TestWaits: a thread of this process that waits in a receive is found.
func TestWaits(t *testing.T) {
	l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.File() // blocking, so that the thread waits in the call
	if err != nil {
		t.Fatal(err)
	}
	fd := int(f.Fd())
	done := make(chan error)
	go func() {
		_, _, err := unix.Recvfrom(fd, make([]byte, 8), 0)
		done <- err
	}()
	owners := map[uint32][]schema.Owner{1: {{Pid: os.Getpid(), FD: fd}}}
	for begun := time.Now(); owners[1][0].Waits == 0 && time.Since(begun) < 10*time.Second; time.Sleep(time.Millisecond) {
		waits(owners)
	}
	if owners[1][0].Waits != 1 {
		t.Errorf("%d threads wait, want 1", owners[1][0].Waits)
	}
	if err := unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: l.LocalAddr().(*net.UDPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.Close()
}
