package truth

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// questions is how often the client of TestRoundTrips asks.
const questions = 23

// TestRoundTrips: the round trips that tcprtt shows are those that the kernel tells the program
// itself, in TCP_INFO.
func TestRoundTrips(t *testing.T) {
	tools := needTools(t, "round trips")
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	capture := filepath.Join(t.TempDir(), "roundtrips.parquet")
	rec, err := ns.Record(tools+"/netrec", capture)
	if err != nil {
		t.Fatal(err)
	}
	var port string
	var told []int64
	if err := ns.Do(func() (err error) { port, told, err = askKernel(); return err }); err != nil {
		t.Fatal(err)
	}
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	out, err := exec.Command(tools+"/netrec", "analyze", capture, "tcprtt", "--by", "lport", "--format", "json").Output()
	if err != nil {
		t.Fatalf("tcprtt: %v", err)
	}
	checkRoundTrips(t, out, port, told)
}

// askKernel has a conversation and reads the client's round trip after each answer. The client's
// port comes first.
func askKernel() (port string, told []int64, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	defer l.Close()
	go repeat(l)
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return "", nil, err
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return "", nil, err
	}
	for range questions {
		if _, err := c.Write(make([]byte, 11)); err != nil {
			return "", nil, err
		}
		if _, err := io.ReadFull(c, make([]byte, 11)); err != nil {
			return "", nil, err
		}
		var info *unix.TCPInfo
		if e := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); e != nil || err != nil {
			return "", nil, fmt.Errorf("TCP_INFO: %v %v", e, err)
		}
		told = append(told, int64(info.Rtt))
	}
	_, port, err = net.SplitHostPort(c.LocalAddr().String())
	return port, told, err
}

// repeat answers one client with what it says.
func repeat(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.Copy(c, c) // the client notices
}

// checkRoundTrips compares the client's line. A row has the value from before its segment, so
// the last one told is not yet in any.
func checkRoundTrips(t *testing.T, out []byte, port string, told []int64) {
	t.Helper()
	type line struct {
		Lport, Segments int64
		Min             int64 `json:"min_us"`
		P50             int64 `json:"p50_us"`
		Max             int64 `json:"max_us"`
	}
	var said struct {
		Answers []struct{ Tables []struct{ Rows []line } }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	rows := said.Answers[0].Tables[0].Rows
	i := slices.IndexFunc(rows, func(l line) bool { return strconv.FormatInt(l.Lport, 10) == port })
	if i < 0 {
		t.Fatalf("no line of the client's port %s\n%s", port, out)
	}
	got, known := rows[i], told[:len(told)-1]
	low, high := slices.Min(known), slices.Max(known)
	// An ACK that comes by itself before an answer may give a value between two that were told.
	if got.Segments < questions || got.Min > low || got.Max < high || got.P50 < low*9/10 || got.P50 > high*11/10 {
		t.Errorf("the kernel told %d to %d us after %d answers, the answer has %+v\n%v", low, high, len(known), got, told)
	}
	t.Logf("the kernel told %d to %d us, the answer has %+v", low, high, got)
}
