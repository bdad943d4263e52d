package agg

import (
	"fmt"
	"testing"

	"netrec/schema"
)

// fdRows feeds rows about descriptors, each with the columns that its event fills.
type fdRows struct {
	*feeder
	d *Descriptors
}

func newFDRows(alive ...schema.Socket) *fdRows {
	return &fdRows{newFeeder(), NewDescriptors(alive)}
}

var fdColumns = []string{"sock", "cookie", "listener", "peer_sock", "ret", "dur_ns", "fd", "fd2", "fd_new", "fd_last", "child_pid", "fds_shared", "passed_sock", "fd_passed"}

func (f *fdRows) feed(event, fn string, pid int64, kv ...any) *File {
	for _, c := range fdColumns {
		f.num(c, 0)
	}
	f.num("pid", pid)
	f.str("comm", fmt.Sprintf("p%d", pid%100))
	f.str("ctx", "task")
	f.str("func", fn)
	f.str("dir", fn)
	for i := 0; i < len(kv); i += 2 {
		switch v := kv[i+1].(type) {
		case int:
			f.num(kv[i].(string), int64(v))
		case int64:
			f.num(kv[i].(string), v)
		case uint64:
			f.num(kv[i].(string), int64(v))
		}
	}
	return f.d.Feed(f.row(event), nil)
}

func (f *fdRows) socket(pid, fd int64, sock uint64) {
	f.feed("sys_socket", "socket", pid, "sock", sock, "fd", fd, "ret", fd)
}
func (f *fdRows) close(pid, fd int64, sock uint64) {
	f.feed("sys_close", "close", pid, "sock", sock, "fd", fd, "fd_last", fd)
}
func (f *fdRows) fork(pid, child int64, shared int) {
	f.feed("fd_dup", "fork", pid, "child_pid", child, "fds_shared", shared)
}

// TestDescriptorsMillionReuses opens, copies, passes on and closes the same few numbers
// and addresses a million times, in several processes, and checks that no descriptor
// leads to a socket of another round.
func TestDescriptorsMillionReuses(t *testing.T) {
	const rounds, addresses = 250_000, 64
	f := newFDRows()
	var round PerFile[int64]
	ended, now := 0, int64(0)
	f.d.OnEnd(func(k *File, how FileEnd, _ int64) {
		ended++
		if *round.Of(k) != now || how != LastClosed || !k.Passed {
			t.Fatalf("file of round %d ended %d in round %d", *round.Of(k), how, now)
		}
	})
	at := func(pid, fd int64, addr uint64) *File {
		k, _ := f.d.At(pid, fd)
		if k == nil || k.Addr != addr {
			t.Fatalf("round %d: (%d, %d) leads to %+v, want %x", now, pid, fd, k, addr)
		}
		return k
	}
	for now = 1; now <= rounds; now++ {
		pid, child := 100+now%7, 5000+now%3
		addr := 0xffff888000000000 + uint64(now%addresses)*0x1000
		f.socket(pid, 3, addr)
		*round.Of(at(pid, 3, addr)) = now
		f.feed("fd_dup", "dup", pid, "sock", addr, "fd", 3, "fd_new", 4)
		f.fork(pid, child, 0)
		f.close(pid, 3, addr)
		f.close(pid, 4, addr)
		if k, _ := f.d.At(pid, 3); k != nil {
			t.Fatalf("closed descriptor leads to %+v", k)
		}
		if *round.Of(at(child, 4, addr)) != now || *round.Of(f.d.Of(addr)) != now {
			t.Fatal("the child's descriptor leads to another round")
		}
		f.feed("sys_close", "exit", child, "fd_last", 1<<31-1)
		if f.d.Of(addr) != nil {
			t.Fatalf("round %d: the file outlives its last descriptor", now)
		}
	}
	if ended != rounds || f.d.slots > 2 || f.d.Corrected != 0 || len(f.d.tables) > 8 {
		t.Errorf("%d files ended of %d, %d held at once, %d corrected, %d tables", ended, rounds, f.d.slots, f.d.Corrected, len(f.d.tables))
	}
	if _, gen := f.d.At(101, 3); gen < rounds/7 {
		t.Errorf("generation %d", gen)
	}
}

func TestDescriptorWays(t *testing.T) {
	const a, b, c = 0xffff888000001000, 0xffff888000002000, 0xffff888000003000
	tests := []struct {
		name string
		do   func(f *fdRows)
		want string // what descriptors lead to, then which files ended
	}{
		{"socketpair", func(f *fdRows) {
			f.feed("sys_socket", "socketpair", 7, "sock", uint64(a), "peer_sock", uint64(b), "fd", 3, "fd2", 4)
		}, "7/3=a 7/4=b ended:"},
		{"accept names the listener too", func(f *fdRows) {
			f.feed("sys_accept", "accept4", 7, "sock", uint64(b), "listener", uint64(a), "fd", 3, "ret", 9)
		}, "7/3=a 7/9=b ended:"},
		{"dup2 over another socket", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(7, 4, b)
			f.feed("fd_dup", "dup2", 7, "sock", uint64(a), "fd", 3, "fd_new", 4)
			f.feed("sys_close", "dup2", 7, "sock", uint64(b), "fd", 4, "fd_last", 4, "ret", 4, "dur_ns", 1)
		}, "7/3=a 7/4=a ended: b0"},
		{"close returns after the number was given away", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(7, 3, b)
			f.feed("sys_close", "close", 7, "sock", uint64(a), "fd", 3, "fd_last", 3, "dur_ns", 2)
		}, "7/3=b ended: a0"},
		{"close returns after number and address were given away", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(7, 3, a)
			f.feed("sys_close", "close", 7, "sock", uint64(a), "fd", 3, "fd_last", 3, "dur_ns", 2)
		}, "7/3=a ended: a1"},
		{"shared table", func(f *fdRows) {
			f.socket(7, 3, a)
			f.fork(7, 8, 1)
			f.socket(8, 4, b)
			f.feed("sys_close", "exit", 7, "fd_last", 1<<31-1)
		}, "8/3=a 8/4=b ended:"},
		{"exec closes what is marked, and unshares", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(7, 4, b)
			f.fork(7, 8, 1)
			f.feed("sys_close", "exec", 8, "sock", uint64(a), "fd", 3, "fd_last", 3)
			f.close(7, 4, b)
		}, "7/3=a 8/4=b ended:"},
		{"fork, exec, close", func(f *fdRows) {
			f.socket(7, 3, a)
			f.fork(7, 8, 0)
			f.feed("sys_close", "exec", 8, "sock", uint64(a), "fd", 3, "fd_last", 3)
			f.close(7, 3, a)
		}, "ended: a0"},
		{"close_range", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(7, 4, b)
			f.socket(7, 9, c)
			f.feed("sys_close", "close_range", 7, "fd", 4, "fd_last", int64(1<<31-1))
		}, "7/3=a ended: b0 c0"},
		{"passed on a way without an event", func(f *fdRows) {
			f.socket(7, 3, a)
			f.feed("sys_write", "sendto", 8, "sock", uint64(a), "fd", 5, "ret", 10)
			f.close(7, 3, a)
		}, "8/5=a ended:"},
		{"passed in a message, closed before it is read", func(f *fdRows) {
			f.socket(7, 3, a)
			f.feed("scm_fd", "send", 7, "passed_sock", uint64(a), "fd_passed", 3)
			f.close(7, 3, a)
			f.feed("scm_fd", "recv", 8, "passed_sock", uint64(a), "fd_passed", 6)
		}, "8/6=a ended:"},
		{"passed in a message that nobody reads", func(f *fdRows) {
			f.socket(7, 3, a)
			f.feed("scm_fd", "send", 7, "passed_sock", uint64(a), "fd_passed", 3)
			f.close(7, 3, a)
			f.socket(8, 4, a)
		}, "8/4=a ended: a0"},
		{"found to lead elsewhere", func(f *fdRows) {
			f.socket(7, 3, a)
			f.feed("sys_write", "write", 7, "sock", uint64(b), "fd", 3)
		}, "7/3=b ended: a0"},
		{"a call that began before the descriptor", func(f *fdRows) {
			f.socket(7, 3, b)
			f.feed("sys_read", "read", 7, "sock", uint64(a), "fd", 3, "dur_ns", 5)
		}, "7/3=b ended:"},
		{"the socket is gone whatever is known of descriptors", func(f *fdRows) {
			f.socket(7, 3, a)
			f.fork(7, 8, 0)
			f.feed("udp_gone", "", 0, "sock", uint64(a))
		}, "ended: a0"},
		{"another process gets the number of one whose end was not seen", func(f *fdRows) {
			f.socket(7, 3, a)
			f.socket(8, 3, b)
			f.fork(8, 7, 0)
		}, "7/3=b 8/3=b ended: a0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFDRows()
			if got := f.state(tt.do); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// state does something and says what the table is then.
func (f *fdRows) state(do func(*fdRows)) string {
	name := func(k *File) string { return string(rune('a' - 1 + int(k.Addr>>12&0xf))) }
	ended := " ended:"
	f.d.OnEnd(func(k *File, how FileEnd, _ int64) { ended += fmt.Sprintf(" %s%d", name(k), how) })
	do(f)
	open := ""
	for pid := int64(7); pid <= 8; pid++ {
		for fd := range int64(10) {
			if k, _ := f.d.At(pid, fd); k != nil {
				open += fmt.Sprintf(" %d/%d=%s", pid, fd, name(k))
			}
		}
	}
	return (open + ended)[1:]
}

// TestDescriptorsOfOlderSockets: the list of sockets at the start has no addresses.
func TestDescriptorsOfOlderSockets(t *testing.T) {
	const a, b = 0xffff888000001000, 0xffff888000002000
	alive := []schema.Socket{{Cookie: 5, Owners: []schema.Owner{{Pid: 7, FD: 3, Comm: "sshd"}, {Pid: 8, FD: 3}}},
		{Cookie: 6, State: "LISTEN", Owners: []schema.Owner{{Pid: 7, FD: 4}}}}
	f := newFDRows(alive...)
	got := f.state(func(f *fdRows) {
		f.feed("sys_write", "write", 7, "sock", uint64(a), "fd", 3, "cookie", 5)
		f.feed("sys_accept", "accept", 7, "sock", uint64(0xffff888000003000), "listener", uint64(b), "fd", 4, "ret", 9)
		f.feed("sys_close", "exit", 8, "fd_last", 1<<31-1)
		f.close(7, 9, 0xffff888000003000)
	})
	if got != "7/3=a 7/4=b ended: c0" {
		t.Error(got)
	}
	if k := f.d.Of(a); !k.Older || k.Comm != "sshd" || k.Refs != 1 {
		t.Errorf("%+v", k)
	}
	f = newFDRows(alive...)
	if got := f.state(func(f *fdRows) {
		f.feed("sys_close", "exit", 8, "fd_last", 1<<31-1)
		f.feed("sys_close", "close", 7, "sock", uint64(a), "fd", 3, "fd_last", 3, "cookie", 5)
		f.d.Close(1)
	}); got != "ended: a0 `2" {
		t.Error(got)
	}
}

// TestDescriptorsBounded forks without end.
func TestDescriptorsBounded(t *testing.T) {
	f := newFDRows()
	f.socket(1, 3, 0x1000)
	for pid := range int64(maxTables + 1000) {
		f.fork(1, pid+2, 0)
	}
	if len(f.d.tables) > maxTables || f.d.fds > maxTables {
		t.Errorf("%d tables, %d descriptors", len(f.d.tables), f.d.fds)
	}
	f.d.Close(1)
	if len(f.d.byAddr) != 0 {
		t.Error("files left")
	}
}

func BenchmarkDescriptorsFeed(b *testing.B) {
	f := newFDRows()
	f.socket(7, 3, 0xffff888000001000)
	f.num("sock", -0x777ffffff000)
	r := f.row("sock_io")
	b.ReportAllocs()
	for range b.N {
		f.d.Feed(r, nil)
	}
}
