package symbol

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"netrec/schema"
)

func testKernel(t testing.TB) *Kernel {
	t.Helper()
	k, err := parseKernel(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestStack(t *testing.T) {
	s := New(testKernel(t), nil)
	for _, tt := range []struct {
		name   string
		user   bool
		frames []uint64
		want   string
	}{
		{"none", false, nil, ""},
		{"outermost first", false, []uint64{0xffffffff81000210, 0xffffffff81000110}, "tcp_v4_do_rcv+0x10;tcp_v4_rcv+0x10"},
		// A call that ends its function returns to the next one's first byte.
		{"call at the end", false, []uint64{0xffffffff81000210, 0xffffffff81000200}, "tcp_v4_do_rcv+0x100;tcp_v4_rcv+0x10"},
		{"innermost as it is", false, []uint64{0xffffffff81000200}, "tcp_v4_rcv+0x0"},
		{"ends at zero", false, []uint64{0xffffffff81000200, 0, 0xffffffff81000200}, "tcp_v4_rcv+0x0"},
		{"zero first", false, []uint64{0, 5}, ""},
		{"unknown and semicolon", false, []uint64{0x77, 0xffffffffc0000108}, "semi:colon+0x8;0x77"},
		{"no user", true, []uint64{0x10, 0x20}, "0x20;0x10"},
	} {
		for range 2 { // from the tables, then from the cache
			if got := s.Stack(tt.user, 1, Latest, tt.frames); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

func TestStackIsBounded(t *testing.T) {
	s := New(nil, nil)
	frames := make([]uint64, 1000)
	for i := range frames {
		frames[i] = 1<<60 + uint64(i)
	}
	if n := strings.Count(s.Stack(false, 0, Latest, frames), ";"); n != maxFrames-1 {
		t.Errorf("%d separators, want %d", n, maxFrames-1)
	}
	for i := range 20_000 {
		frames[0] = uint64(i) + 1
		s.Stack(false, 0, Latest, frames[:64])
	}
	if s.cache.total > maxCacheBytes {
		t.Errorf("%d bytes remembered", s.cache.total)
	}
}

// A frame without a name is looked up again; one with a name is not.
func TestIncompleteStacksExpire(t *testing.T) {
	s := New(nil, NewUser())
	pid := int32(os.Getpid())
	s.Stack(true, pid, Latest, []uint64{0x10})
	for _, c := range s.cache.byKey {
		if c.Value.(*cached[uint64, folded]).value.until.IsZero() {
			t.Error("a stack without names is kept for good")
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"main.run":                "main.run",
		"a;b":                     "a:b",
		"tab\tnl\nesc\x1b[0m":     "tab?nl?esc?[0m",
		"main.(*T).f·1":           "main.(*T).f·1",
		"bad\xffutf8":             "bad?utf8",
		strings.Repeat("x", 1000): strings.Repeat("x", maxText),
		"\u202eevil":              "?evil",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLRU(t *testing.T) {
	l := newLRU[int, string](10)
	l.put(1, "a", 4)
	l.put(2, "b", 4)
	l.get(1)
	l.put(3, "c", 4) // 2 was used least
	for key, want := range map[int]bool{1: true, 2: false, 3: true} {
		if _, ok := l.get(key); ok != want {
			t.Errorf("key %d there: %v", key, ok)
		}
	}
	l.put(1, "A", 2)
	if v, _ := l.get(1); v != "A" || l.total != 6 {
		t.Errorf("value %q, total %d", v, l.total)
	}
	l.put(9, "huge", 11)
	if _, ok := l.get(9); ok || l.total != 6 {
		t.Errorf("kept what is heavier than the cache; total %d", l.total)
	}
}

func TestGuard(t *testing.T) {
	g := newGuard()
	if v, err := guarded(g, func() (int, error) { return 23, nil }); v != 23 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if _, err := guarded(g, func() (int, error) { panic("hostile") }); err == nil {
		t.Error("a panic was not an error")
	}
	// With all slots taken by calls that hang, further ones return at once.
	hang := make(chan struct{})
	for range maxStuck {
		go guarded(g, func() (int, error) { <-hang; return 0, nil })
	}
	for len(g.slots) < maxStuck {
		time.Sleep(time.Millisecond)
	}
	if _, err := guarded(g, func() (int, error) { return 0, nil }); !errors.Is(err, errStuck) {
		t.Errorf("with all slots taken: %v", err)
	}
	close(hang)
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]*mapping{
		"7f00-7f10 r-xp 00001000 08:01 42                         /usr/lib/libfoo.so.1": {start: 0x7f00, end: 0x7f10, off: 0x1000, inode: 42, path: "/usr/lib/libfoo.so.1"},
		"7f00-7f10 r-xp 00000000 00:00 0 ":                                              {start: 0x7f00, end: 0x7f10},
		"7f00-7f10 r-xp 00000000 00:05 9    /a b (deleted)":                             {start: 0x7f00, end: 0x7f10, inode: 9, path: "/a b (deleted)"},
		"7f00-7f10 rw-p 00000000 00:05 9    /data":                                      nil,
		"7f10-7f00 r-xp 00000000 00:05 9    /backwards":                                 nil,
		"zz-7f00 r-xp 00000000 00:05 9    /bad":                                         nil,
		"":                                                                              nil,
	} {
		got, ok := parseMapping(line)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
}

func BenchmarkStackCached(b *testing.B) {
	s := New(testKernel(b), NewUser())
	frames := make([]uint64, 20)
	for i := range frames {
		frames[i] = 0xffffffff81000110 + uint64(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Stack(false, 0, Latest, frames)
	}
}

func BenchmarkUserStackCached(b *testing.B) {
	s := New(nil, NewUser())
	pid := int32(os.Getpid())
	frames := make([]uint64, 20)
	for i := range frames {
		frames[i] = 0x401000 + uint64(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Stack(true, pid, Latest, frames)
	}
}

// slowNamer is a process whose files do not answer: it names nothing until it is let go.
type slowNamer struct{ asked, answer chan struct{} }

func (slowNamer) Program(int32, uint64) (gen, since, until uint64) { return 1, 0, Latest }

func (n slowNamer) Frames(_ int32, _ uint64, _, addrs []uint64) ([]string, bool) {
	n.asked <- struct{}{}
	<-n.answer
	return []string{"late"}, true
}

func (slowNamer) Objects(int) []schema.Object { return nil }

// While one stack waits for its names, stacks of the kernel and those that are known do not.
func TestNamesAreWaitedForAlone(t *testing.T) {
	n := slowNamer{make(chan struct{}), make(chan struct{})}
	s := New(testKernel(t), n)
	late := make(chan string)
	name := func() { late <- s.Stack(true, 1, Latest, []uint64{0x10}) }
	go name()
	<-n.asked
	others := make(chan string, 1)
	go func() { others <- s.Stack(false, 0, Latest, []uint64{0xffffffff81000200}) }()
	select {
	case got := <-others:
		if got != "tcp_v4_rcv+0x0" {
			t.Errorf("a stack of the kernel: %q", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("a stack of the kernel waits for the names of a process")
	}
	close(n.answer)
	if got := <-late; got != "late" {
		t.Errorf("got %q", got)
	}
	go name() // known by now: nobody is asked
	if got := <-late; got != "late" {
		t.Errorf("the second time: %q", got)
	}
}
