package traffic

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pings fills the receive queue of a ping socket with the answers to its own echo
// requests. The kernel counts for each socket what it drops there. It is the one kind
// of inet socket that has no other place to drop: UDP and raw sockets look earlier.
func (w *worker) pings() {
	s := w.openPing()
	if s == nil {
		return
	}
	s.setInt(unix.SOL_SOCKET, unix.SO_RCVBUF, 4096)
	request := make([]byte, 1001)
	request[0] = 8 // echo; the kernel fills in id and checksum
	to := rawAddr(w.addr(B, "4", 0), s.Family)
	for range w.want["pingfull"] {
		s.must(Call{Name: "sendto", Asked: len(request)}, func() (int, unix.Errno) { return sysSendto(s.fd, request, 0, to) })
		s.Sent += len(request)
	}
	w.settle(A, "Icmp.InEchoReps")
	w.in(A)
	drops, err := socketDrops(s.fd)
	if err != nil {
		w.fail("asking socket %d for its drops: %w", s.Index, err)
	}
	if drops == 0 {
		w.fail("a full queue dropped nothing")
	}
	s.Drops = drops
	s.close()
}

// openPing makes a ping socket, nil where that is not allowed: in a namespace that is not
// this run's own, the list of groups that may is not to be changed.
func (w *worker) openPing() *socket {
	w.in(A)
	if w.link.names[A] != "" {
		if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0); err != nil {
			w.fail("allowing ping sockets: %w", err)
		}
	}
	enter := now()
	fd, errno := sys3(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	exit := now()
	if errno == unix.EACCES && w.link.names[A] == "" {
		return nil
	}
	if errno != 0 {
		w.fail("making a ping socket: %w", errno)
	}
	return w.adopt(&Socket{
		Role: "full", Side: A, FD: fd, From: -1, Family: "inet", Type: "dgram",
		Calls: []Call{{Name: "socket", FD: fd, Return: fd, Enter: enter, Exit: exit}},
	})
}

// socketDrops is how many packets the kernel dropped for want of room in the queue.
func socketDrops(fd int) (int, error) {
	var info [9]uint32 // SK_MEMINFO_VARS
	const drops = 8    // SK_MEMINFO_DROPS
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0, errno
	}
	if size < uint32(unsafe.Sizeof(info)) {
		return 0, fmt.Errorf("the kernel gave %d bytes", size)
	}
	return int(info[drops]), nil
}
