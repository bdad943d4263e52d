package truth

import (
	"os"
	"path/filepath"
	"testing"

	"netrec/record/vmtest/traffic"
)

// inside records packets of tunnels by a port that only their inner headers have: all rows of
// a recording without filters must be there.
func inside(t *testing.T, tools string) {
	if os.Getenv(guestEnv) == "" {
		return // loopback has no tunnels but those made by hand
	}
	dir := t.TempDir()
	capture, logFile := filepath.Join(dir, "t.parquet"), filepath.Join(dir, "log.json")
	record(t, tools, capture, logFile, []string{"tunnel"}, "-e", "ip_ecn,skb_drop", "--port", "7123")
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	l, err := traffic.Read(logFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tunnels) == 0 {
		t.Error("nothing went through a tunnel")
	}
	for _, e := range append(checkAccount(c, false), checkTunnels(c, l)...) {
		t.Error(e)
	}
}
