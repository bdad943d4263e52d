package traffic

import (
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// bindOptions are what a socket may have been told before it binds, in the order in which
// rows name them.
var bindOptions = []struct {
	name       string
	level, opt int
}{
	{"freebind", unix.SOL_IP, unix.IP_FREEBIND},
	{"transparent", unix.SOL_IP, unix.IP_TRANSPARENT},
	{"bind_address_no_port", unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT},
	{"reuseaddr", unix.SOL_SOCKET, unix.SO_REUSEADDR},
	{"reuseport", unix.SOL_SOCKET, unix.SO_REUSEPORT},
}

// otherUser is who some calls are made as.
const otherUser = 4211

// as makes a call as another user. Only the thread's real user changes, so that it may go
// back.
func (w *worker) as(uid int, f func()) {
	before := unix.Getuid()
	w.become(uid)
	f()
	w.become(before)
}

func (w *worker) become(uid int) {
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep); errno != 0 {
		w.fail("becoming user %d: %w", uid, errno)
	}
}

// tryBind binds a socket and writes down what it was told before.
func (s *socket) tryBind(addr netip.AddrPort) unix.Errno {
	raw, c := rawAddr(addr, s.Family), Call{Name: "bind", Peer: addr.String(), Opts: s.bindOpts()}
	var err error
	if c.Device, err = unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX); err != nil {
		s.w.fail("asking for the device of socket %d: %w", s.Index, err)
	}
	_, errno := s.call(c, func() (int, unix.Errno) { return sysBind(s.fd, raw) })
	return errno
}

// bindOpts asks the kernel for the options.
func (s *socket) bindOpts() string {
	var set []string
	for _, o := range bindOptions {
		v, err := unix.GetsockoptInt(s.fd, o.level, o.opt)
		if err != nil {
			s.w.fail("asking for %s of socket %d: %w", o.name, s.Index, err)
		}
		if v != 0 {
			set = append(set, o.name)
		}
	}
	if set == nil {
		return "0"
	}
	return strings.Join(set, "|")
}

// options binds sockets with every combination of options, to an address that this host
// does not have, which takes the first or second of them; some as another user, some bound
// to a device.
func (w *worker) options() {
	for i := range w.want["bindopts"] {
		form, foreign := "4", netip.MustParseAddr("192.0.2.9")
		if i >= 1<<len(bindOptions) {
			form, foreign = "6", netip.MustParseAddr("2001:db8::9")
		}
		s := w.open("options", B, familyOf(form), unix.SOCK_STREAM)
		for bit, o := range bindOptions {
			if i>>bit&1 != 0 {
				s.setInt(o.level, o.opt, 1)
			}
		}
		if i%4 == 3 {
			s.setInt(unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX, 1)
		}
		wanted := []unix.Errno{0}
		if i&3 == 0 {
			wanted[0] = unix.EADDRNOTAVAIL
		}
		uid := unix.Getuid()
		if i%3 == 1 {
			uid = otherUser
		}
		w.as(uid, func() { s.expect(s.tryBind(netip.AddrPortFrom(foreign, 0)), wanted...) })
		s.close()
	}
}
