package record

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestNotify(t *testing.T) {
	if err := notify("", "READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
	path := filepath.Join(t.TempDir(), "notify")
	if err := notify(path, "READY=1"); err == nil {
		t.Error("nobody listens, and that is no error")
	}
	for _, name := range []string{path, "@netrec-" + filepath.Base(t.TempDir()) + t.Name()} {
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := notify(name, "READY=1"); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		b := make([]byte, 100)
		if n, err := conn.Read(b); err != nil || string(b[:n]) != "READY=1" {
			t.Errorf("%s: the manager got %q, %v", name, b[:n], err)
		}
	}
}
