package agg

import (
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

// feeder makes rows without a source: one batch of one row that is rewritten.
type feeder struct {
	vecs []scan.Vec
	ts   int64
}

func newFeeder() *feeder {
	f := &feeder{vecs: make([]scan.Vec, len(schema.Columns))}
	for c := range schema.Columns {
		if schema.Columns[c].Type == schema.String {
			f.vecs[c] = scan.Vec{Index: []int32{-1}, Dict: []string{""}}
		} else {
			f.vecs[c] = scan.Vec{Ints: []int64{0}}
		}
	}
	return f
}

func (f *feeder) num(name string, v int64) { f.vecs[schema.ColumnIndex(name)].Ints[0] = v }

func (f *feeder) str(name, v string) {
	c := &f.vecs[schema.ColumnIndex(name)]
	c.Dict[0], c.Index[0] = v, 0
}

func (f *feeder) row(event string) *scan.Row {
	f.ts++
	r := scan.At(schema.ByName(event), f.ts, f.vecs, 0)
	return &r
}

func (f *feeder) state(s *Sockets, addr uint64, pid int64, from, to string) *Socket {
	f.num("sock", int64(addr))
	f.num("pid", pid)
	f.str("ctx", "task")
	f.str("comm", "prog")
	f.str("old_state", from)
	f.str("new_state", to)
	return s.Feed(f.row("tcp_state"))
}

// TestSocketsMillionReuses closes and reuses addresses a million times and checks
// that no row reaches the life of another.
func TestSocketsMillionReuses(t *testing.T) {
	const addresses, rounds = 1000, 1000
	f, s := newFeeder(), NewSockets(nil)
	var lives PerSocket[int64]
	ended := int64(0)
	s.OnEnd(func(k *Socket) {
		if got := *lives.Of(k); got != k.Pid || k.Pid == 0 {
			t.Fatalf("life of pid %d holds the rows of %d", k.Pid, got)
		}
		ended++
	})
	f.str("protocol", "tcp")
	f.str("laddr", "10.0.0.1")
	f.str("raddr", "10.0.0.2")
	for round := range int64(rounds) {
		for a := range int64(addresses) {
			addr, pid := 0xffff888000000000+uint64(a)*0x1000, round*addresses+a+1
			f.num("lport", 0)
			k := f.state(s, addr, pid, "CLOSE", "SYN_SENT")
			if v := lives.Of(k); *v != 0 {
				t.Fatalf("a new life begins with the rows of pid %d", *v)
			} else {
				*v = pid
			}
			f.num("lport", 1+pid%60000)
			f.num("rport", 443)
			f.str("ctx", "softirq")
			f.num("pid", -1)
			if k = s.Feed(f.row("tcp_rcv_est")); *lives.Of(k) != pid || k.Gen != int(round)+1 {
				t.Fatalf("row of pid %d joined generation %d of pid %d", pid, k.Gen, k.Pid)
			}
			if k = f.state(s, addr, -1, "ESTABLISHED", "CLOSE"); k.Pid != pid || k.Lport != 1+pid%60000 {
				t.Fatalf("close of pid %d joined pid %d, port %d", pid, k.Pid, k.Lport)
			}
		}
	}
	s.Close()
	if ended != addresses*rounds {
		t.Errorf("%d lives ended, want %d", ended, addresses*rounds)
	}
	if s.slots > 2*maxClosed+addresses {
		t.Errorf("%d sockets held at once", s.slots)
	}
}

// TestSocketsBounded closes many addresses that are never used again.
func TestSocketsBounded(t *testing.T) {
	f, s := newFeeder(), NewSockets(nil)
	ended := 0
	s.OnEnd(func(*Socket) { ended++ })
	const n = 200_000
	for a := range uint64(n) {
		f.state(s, 0xffff888000000000+a*64, 7, "CLOSE", "SYN_SENT")
		f.state(s, 0xffff888000000000+a*64, 7, "SYN_SENT", "CLOSE")
	}
	if s.slots > 2*maxClosed+1 {
		t.Errorf("%d sockets held, none of them open", s.slots)
	}
	s.Close()
	if ended != n {
		t.Errorf("%d lives ended, want %d", ended, n)
	}
}

func TestSocketsIdentity(t *testing.T) {
	addr := uint64(0xffff888012345678)
	alive := []schema.Socket{{Cookie: 9, Protocol: "tcp", State: "ESTABLISHED", Laddr: "10.0.0.1", Lport: 22, Raddr: "10.0.0.2", Rport: 5,
		Owners: []schema.Owner{{Pid: 900, Comm: "sshd", Cgroup: "/ssh.service"}}}}
	f, s := newFeeder(), NewSockets(alive)
	f.num("sock", int64(addr))
	f.str("ctx", "softirq")
	f.num("cookie", 9)
	k := s.Feed(f.row("tcp_rcv_est"))
	if !k.Older || k.Pid != 900 || k.Cgroup != "/ssh.service" || k.Lport != 22 || k.Raddr != "10.0.0.2" || k.Gen != 1 {
		t.Errorf("socket older than the recording: %+v", k)
	}
	f.num("cookie", 10)
	if k = s.Feed(f.row("tcp_rcv_est")); k.Gen != 2 || k.Older || k.Pid != 0 {
		t.Errorf("another cookie: %+v", k)
	}
	f.str("ctx", "task")
	f.num("pid", 5)
	f.str("comm", "closer")
	if k = s.Feed(f.row("sys_close")); k.Pid != 5 {
		t.Errorf("owner by close: %+v", k)
	}
	f.num("pid", 6)
	if k = s.Feed(f.row("sock_io")); k.Pid != 6 {
		t.Errorf("owner by I/O outranks close: %+v", k)
	}
	f.num("pid", 7)
	if k = s.Feed(f.row("sys_accept")); k.Pid != 7 {
		t.Errorf("owner by accept outranks I/O: %+v", k)
	}
	f.num("pid", 8)
	if k = s.Feed(f.row("sock_io")); k.Pid != 7 {
		t.Errorf("owner changed by I/O of another: %+v", k)
	}
	f.num("netns", 4026531840)
	s.Feed(f.row("sock_io"))
	f.num("netns", 4026532000)
	if k = s.Feed(f.row("sock_io")); k.Gen != 3 {
		t.Errorf("another namespace: %+v", k)
	}
	f.num("sock", 0)
	if k = s.Feed(f.row("sock_io")); k != nil {
		t.Errorf("row without a socket got %+v", k)
	}
}

// TestCloseOfTheLifeBefore: close(2) frees the socket, another CPU reuses its address,
// then the call returns.
func TestCloseOfTheLifeBefore(t *testing.T) {
	const addr = 0xffff888000001000
	f, s := newFeeder(), NewSockets(nil)
	f.state(s, addr, 7, "CLOSE", "SYN_SENT")
	f.state(s, addr, 7, "SYN_SENT", "CLOSE")
	f.state(s, addr, 8, "CLOSE", "SYN_SENT")
	f.num("pid", 7)
	f.num("dur_ns", 3)
	if k := s.Feed(f.row("sys_close")); k != nil {
		t.Errorf("close joined %+v", k)
	}
	f.num("dur_ns", 1)
	if k := s.Feed(f.row("sys_close")); k == nil || k.Gen != 2 {
		t.Errorf("close of the second life joined %+v", k)
	}
}

// TestChildIsNotItsListener: the first row of an accepted socket shows the listener's
// ends and cookie.
func TestChildIsNotItsListener(t *testing.T) {
	const addr = 0xffff888000001000
	f, s := newFeeder(), NewSockets([]schema.Socket{{Cookie: 5, State: "LISTEN", Laddr: "0.0.0.0", Lport: 80, Owners: []schema.Owner{{Pid: 1}}}})
	f.num("cookie", 5)
	f.num("lport", 80)
	f.str("laddr", "0.0.0.0")
	f.state(s, addr, 31, "LISTEN", "SYN_RECV")
	f.num("cookie", 6)
	f.num("rport", 4000)
	f.str("laddr", "10.0.0.1")
	f.str("raddr", "10.0.0.2")
	k := f.state(s, addr, 31, "SYN_RECV", "ESTABLISHED")
	if k.Gen != 1 || k.Cookie != 6 || k.Older || k.Laddr != "10.0.0.1" || k.Lport != 80 || k.Rport != 4000 || k.Pid == 1 {
		t.Errorf("child: %+v", k)
	}
}

// TestChildAtTheAddressOfAnother: a socket that was bound and closed without ever having
// been connected leaves its address to a child of some listener.
func TestChildAtTheAddressOfAnother(t *testing.T) {
	addr := uint64(0xffff888000001000)
	f, s := newFeeder(), NewSockets(nil)
	f.num("sock", int64(addr))
	f.num("pid", 7)
	f.str("ctx", "task")
	s.Feed(f.row("sys_socket"))
	f.str("laddr", "10.0.0.9")
	f.num("lport", 9000)
	s.Feed(f.row("sys_bind"))
	s.Feed(f.row("sys_close"))
	f.str("laddr", "10.0.0.1")
	f.num("lport", 80)
	f.state(s, addr, 7, "LISTEN", "SYN_RECV")
	if k := f.state(s, addr, 7, "SYN_RECV", "ESTABLISHED"); k.Gen != 2 || !k.Born || k.Laddr != "10.0.0.1" || k.Lport != 80 {
		t.Errorf("child: %+v", k)
	}
}

func TestStartsLife(t *testing.T) {
	tests := []struct {
		from, to string
		want     bool
	}{
		{"CLOSE", "SYN_SENT", true}, {"CLOSE", "LISTEN", true}, {"LISTEN", "SYN_RECV", true}, {"CLOSE", "ESTABLISHED", true}, {"LISTEN", "ESTABLISHED", true},
		{"SYN_SENT", "SYN_RECV", false}, {"SYN_RECV", "ESTABLISHED", false}, {"LISTEN", "CLOSE", false}, {"CLOSE", "CLOSE", false},
	}
	for _, tt := range tests {
		if got := startsLife(tt.from, tt.to); got != tt.want {
			t.Errorf("%s -> %s: %v", tt.from, tt.to, got)
		}
	}
}

func BenchmarkSocketsFeed(b *testing.B) {
	f, s := newFeeder(), NewSockets(nil)
	f.state(s, 0xffff888000001000, 7, "CLOSE", "SYN_SENT")
	f.str("ctx", "softirq")
	r := f.row("tcp_rcv_est")
	sock := f.vecs[schema.ColumnIndex("sock")].Ints
	b.ReportAllocs()
	for i := range b.N {
		sock[0] = 0x1000 + int64(i%256)*64
		s.Feed(r)
	}
}

// TestLivesOfDatagramSockets: they have no states; socket(2) begins a life and the end of
// the memory ends it, before close(2) returns.
func TestLivesOfDatagramSockets(t *testing.T) {
	addr := uint64(0xffff888000001000)
	f, s := newFeeder(), NewSockets(nil)
	var ends []int
	s.OnEnd(func(k *Socket) { ends = append(ends, k.Gen) })
	f.num("sock", int64(addr))
	f.num("pid", 7)
	f.str("ctx", "task")
	f.str("comm", "dig")
	f.str("protocol", "ip")
	k := s.Feed(f.row("sys_socket"))
	if k.Gen != 1 || !k.Born || k.Pid != 7 || k.Protocol != "" {
		t.Errorf("made: %+v", k)
	}
	f.num("pid", 8)
	if k = s.Feed(f.row("sock_io")); k.Gen != 1 || k.Pid != 8 {
		t.Errorf("handed to the process that uses it: %+v", k)
	}
	f.str("ctx", "softirq")
	s.Feed(f.row("udp_gone"))
	f.str("ctx", "task")
	f.num("dur_ns", 2)
	if k = s.Feed(f.row("sys_close")); k.Gen != 1 || k.Closed == 0 {
		t.Errorf("return of close: %+v", k)
	}
	f.num("dur_ns", 0)
	if k = s.Feed(f.row("sock_io")); k.Gen != 2 {
		t.Errorf("after its end: %+v", k)
	}
	if k = s.Feed(f.row("sys_socket")); k.Gen != 3 {
		t.Errorf("made again: %+v", k)
	}
	f.num("lport", 53)
	f.num("bind_port", 53)
	f.str("laddr", "10.0.0.1")
	if k = s.Feed(f.row("sys_bind")); !k.Serves() {
		t.Errorf("bound: %+v", k)
	}
	s.Close()
	if len(ends) != 3 {
		t.Errorf("ended: %v", ends)
	}
}

// TestMadeThenConnected: socket(2) and the first change of state are one life.
func TestMadeThenConnected(t *testing.T) {
	addr := uint64(0xffff888000001000)
	f, s := newFeeder(), NewSockets(nil)
	f.num("sock", int64(addr))
	f.str("ctx", "task")
	f.num("pid", 7)
	s.Feed(f.row("sys_socket"))
	if k := f.state(s, addr, 7, "CLOSE", "SYN_SENT"); k.Gen != 1 || k.Began == k.First {
		t.Errorf("first connect: %+v", k)
	}
	f.state(s, addr, 7, "SYN_SENT", "CLOSE")
	if k := f.state(s, addr, 7, "CLOSE", "SYN_SENT"); k.Gen != 2 {
		t.Errorf("second connect: %+v", k)
	}
}

// TestSocketsPacketsElsewhere: a packet keeps its sender's socket where it comes into another
// namespace by veth, and begins no other life of it there.
func TestSocketsPacketsElsewhere(t *testing.T) {
	const home, peer = 4026532001, 4026532002
	f, s := newFeeder(), NewSockets(nil)
	addr := uint64(0xffff888000001000)
	f.num("sock", int64(addr))
	for _, r := range []struct {
		event string
		netns int64
		gen   int
		of    int64
	}{{"dev_queue", peer, 1, peer}, {"sock_io", home, 1, home}, {"ip_ecn", peer, 1, home}, {"icmp_echo", peer, 1, home},
		{"qdisc_enq", peer, 1, home}, {"sock_io", home, 1, home}, {"sock_io", peer, 2, peer}} {
		f.num("netns", r.netns)
		if k := s.Feed(f.row(r.event)); k.Gen != r.gen || k.Netns != r.of {
			t.Errorf("%s in %d: life %d of %d, want %d of %d", r.event, r.netns, k.Gen, k.Netns, r.gen, r.of)
		}
	}
}
