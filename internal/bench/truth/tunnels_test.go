package truth

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	c, l := recorded(t, capture, logFile)
	if len(l.Tunnels) == 0 {
		t.Error("nothing went through a tunnel")
	}
	for _, e := range append(checkAccount(c, false), checkTunnels(c, l)...) {
		t.Error(e)
	}
	copied, dropped := fatesOfMarks(t, tools, capture)
	for _, x := range l.Tunnels {
		if dropped -= x.Unfit; !x.Handmade {
			copied -= x.OuterMarked
		}
	}
	if copied != 0 || dropped != 0 {
		t.Errorf("ipecn has %d marks too many copied where tunnels end, %d dropped", copied, dropped)
	}
}

// fatesOfMarks is how many marks ipecn says the ends of tunnels copied, and how many packets
// they dropped.
func fatesOfMarks(t *testing.T, tools, capture string) (copied, dropped int) {
	t.Helper()
	out, err := exec.Command(tools+"/netrec", "analyze", "-f", "json", capture, "ipecn").Output()
	if err != nil {
		t.Fatalf("netrec analyze ipecn: %v", err)
	}
	var got struct {
		Answers []struct {
			Tables []struct {
				Name string
				Rows []struct{ Copied, Dropped int }
			}
		}
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Answers) != 1 {
		t.Fatalf("netrec analyze ipecn: %d answers, %v", len(got.Answers), err)
	}
	for _, table := range got.Answers[0].Tables {
		for _, r := range table.Rows {
			copied, dropped = copied+r.Copied, dropped+r.Dropped
		}
	}
	return copied, dropped
}
