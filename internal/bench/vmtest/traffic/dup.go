package traffic

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// dupWays are the calls that make a further descriptor.
var dupWays = []string{"dup", "dup2", "dup3", "fcntl"}

// dups copies descriptors in all ways, over nothing and over another socket's, binds
// to ports that the kernel chooses and to one that is taken, asks for a longer queue than
// the host allows, and binds with all options.
func (w *worker) dups() {
	for i := range w.want["dups"] {
		s := w.open("copied", A, unix.AF_INET, unix.SOCK_DGRAM)
		other := w.open("covered", A, unix.AF_INET, unix.SOCK_DGRAM)
		over := i%8 >= 4
		way, to := dupWays[i%len(dupWays)], firstHigh+i
		if over && (way == "dup2" || way == "dup3") {
			to = other.fd
		}
		copied := s.dup(way, to)
		s.close()
		s.fd = copied
		s.close()
		if copied != other.fd {
			other.close()
		}
	}
	w.binds()
	w.options()
}

// dup makes a copy of the socket's descriptor, at to where the call takes a number.
func (s *socket) dup(way string, to int) int {
	return s.must(Call{Name: way}, func() (int, unix.Errno) {
		from := uintptr(s.fd)
		switch way {
		case "dup2":
			return sys3(unix.SYS_DUP2, from, uintptr(to), 0)
		case "dup3":
			return sys3(unix.SYS_DUP3, from, uintptr(to), unix.O_CLOEXEC)
		case "fcntl":
			return sys3(unix.SYS_FCNTL, from, unix.F_DUPFD_CLOEXEC, uintptr(to))
		}
		return sys3(unix.SYS_DUP, from, 0, 0)
	})
}

func (w *worker) binds() {
	for i := range w.want["binds"] {
		form := []string{"4", "6"}[i%2]
		s := w.open("bound", B, familyOf(form), unix.SOCK_STREAM)
		s.bind(w.addr(B, form, 0))
		s.must(Call{Name: "listen", Asked: 1 << 20}, func() (int, unix.Errno) { return sysListen(s.fd, 1<<20) })
		s.names()
		taken, err := netip.ParseAddrPort(s.Local)
		if err != nil {
			w.fail("reading the address of socket %d: %w", s.Index, err)
		}
		late := w.open("late", B, familyOf(form), unix.SOCK_STREAM)
		late.expect(late.tryBind(taken), unix.EADDRINUSE)
		late.close()
		s.close()
	}
}
