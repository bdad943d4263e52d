package truth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// multipath is how many sessions of MPTCP follow each other: enough that the kernel uses the
// addresses of their sockets again.
const multipath = 7

// dialogue is a session as its program knows it.
type dialogue struct{ port, asked, answered int64 }

// TestMultipath: of sessions of MPTCP, each is one socket on either side, with its own ends and
// bytes. The kernel makes such a child as a copy of its listener, in no state of a handshake.
func TestMultipath(t *testing.T) {
	tools := needTools(t, "sessions of MPTCP")
	if guest := os.Getenv(guestEnv); guest == "" || guest == "5.10" { // Debian's of 5.10 is built without
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err != nil {
			t.Logf("left out, this kernel has no MPTCP: %v", err)
			return
		}
		unix.Close(fd)
	}
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	capture := filepath.Join(t.TempDir(), "multipath.parquet")
	rec, err := ns.Record(tools+"/netrec", capture)
	if err != nil {
		t.Fatal(err)
	}
	var done []dialogue
	if err := ns.Do(func() (err error) { done, err = talkMultipath(); return err }); err != nil {
		t.Fatal(err)
	}
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	out, err := exec.Command(tools+"/netrec", "analyze", capture, "socks", "--format", "json").Output()
	if err != nil {
		t.Fatalf("socks: %v", err)
	}
	checkMultipath(t, out, done)
}

// talkMultipath has the sessions, one after the other.
func talkMultipath() (done []dialogue, err error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(true)
	l, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var d net.Dialer
	d.SetMultipathTCP(true)
	for i := range multipath {
		s := dialogue{asked: int64(1001 + 2*i), answered: int64(2003 + 10*i)}
		answered := make(chan error, 1)
		go func() { answered <- answer(l, s) }()
		c, err := d.Dial("tcp4", l.Addr().String())
		if err != nil {
			return nil, err
		}
		s.port = int64(c.LocalAddr().(*net.TCPAddr).Port)
		if is, err := c.(*net.TCPConn).MultipathTCP(); err != nil || !is {
			return nil, fmt.Errorf("the connection is not MPTCP: %v", err)
		}
		if err := trade(c, s.asked, s.answered); err != nil {
			return nil, err
		}
		if err := <-answered; err != nil {
			return nil, err
		}
		done = append(done, s)
	}
	return done, nil
}

func answer(l net.Listener, s dialogue) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(c, make([]byte, s.asked)); err != nil {
		return err
	}
	if _, err := c.Write(make([]byte, s.answered)); err != nil {
		return err
	}
	return c.Close()
}

// trade sends bytes, receives others to the end, and closes.
func trade(c net.Conn, send, receive int64) error {
	if _, err := c.Write(make([]byte, send)); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, c); err != nil || n != receive {
		return fmt.Errorf("%d bytes, want %d: %v", n, receive, err)
	}
	return c.Close()
}

// checkMultipath finds each session twice in the answer, once from either end.
func checkMultipath(t *testing.T, out []byte, done []dialogue) {
	t.Helper()
	type line struct {
		Protocol     string
		Pid          int64
		Lport, Rport int64
		TX           int64 `json:"tx_bytes"`
		RX           int64 `json:"rx_bytes"`
	}
	var said struct {
		Answers []struct{ Tables []struct{ Rows []line } }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	found := map[line]int{}
	for _, table := range said.Answers[0].Tables {
		for _, l := range table.Rows {
			l.Lport, l.Rport = ownPort(l.Lport, done), ownPort(l.Rport, done)
			found[l]++
		}
	}
	pid := int64(os.Getpid())
	for _, s := range done {
		for _, want := range []line{
			{"mptcp", pid, s.port, 0, s.asked, s.answered},
			{"mptcp", pid, 0, s.port, s.answered, s.asked},
		} {
			if found[want] != 1 {
				t.Errorf("%+v: %d times in the answer, want once", want, found[want])
			}
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

// ownPort is a client's port, 0 for the server's.
func ownPort(port int64, done []dialogue) int64 {
	for _, s := range done {
		if s.port == port {
			return port
		}
	}
	return 0
}
