package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/agg"
)

// TestExplained: consequences are told with their cause, where both are about the same.
func TestExplained(t *testing.T) {
	far, near := "10.0.0.2", "127.0.0.1"
	for _, tt := range []struct {
		name string
		all  []Finding
		kept []string
	}{
		{"the same peer", []Finding{{Rule: &loss, Peer: far}, {Rule: &slowConnects, Peer: far}, {Rule: &retransmitBurst, Peer: far}}, []string{"loss"}},
		{"another peer", []Finding{{Rule: &loss, Peer: far}, {Rule: &slowConnects, Peer: "10.0.0.3"}}, []string{"loss", "slow-connects"}},
		{"a chain", []Finding{{Rule: &failedConnects, Peer: far}, {Rule: &retransmitTimeouts, Peer: far}, {Rule: &retransmitBurst, Peer: far}}, []string{"failed-connects"}},
		{"the same port", []Finding{{Rule: &synBacklog, Port: 80}, {Rule: &acceptWait, Port: 80, Peer: far}}, []string{"syn-backlog"}},
		{"the host", []Finding{{Rule: &synBacklog}, {Rule: &acceptWait, Port: 80}}, []string{"syn-backlog"}},
		{"loopback is no peer", []Finding{{Rule: &loss, Peer: near, Port: 80}, {Rule: &slowConnects, Peer: near, Port: 81}}, []string{"loss", "slow-connects"}},
		{"a burst into a zero window", []Finding{{Rule: &retransmitBurst, Peer: far}, {Rule: &zeroWindow, Peer: far}}, []string{"zero-window"}},
		{"a burst for what was overtaken", []Finding{{Rule: &retransmitBurst, Peer: far}, {Rule: &outOfOrder, Peer: far}}, []string{"out-of-order"}},
		{"a cause of its own", []Finding{{Rule: &loss, Peer: far}, {Rule: &slowAnswers, Peer: far, Own: true}}, []string{"loss", "slow-answers"}},
		{"a cause by its reason", []Finding{{Rule: &drops, Explains: []string{"loss"}}, {Rule: &loss, Peer: far}}, []string{"drops"}},
		{"another reason", []Finding{{Rule: &drops}, {Rule: &loss, Peer: far}}, []string{"drops", "loss"}},
	} {
		var kept []string
		also := ""
		for _, f := range explained(tt.all) {
			kept = append(kept, f.Rule.Name)
			also += f.Evidence
		}
		if !slices.Equal(kept, tt.kept) || strings.Contains(also, "also") != (len(kept) < len(tt.all)) {
			t.Errorf("%s: %v, want %v; evidence %q", tt.name, kept, tt.kept, also)
		}
	}
}

// A program that is to blame is found at both ends of its connections where both are on this host, and
// told of once, by the end that is its own. A service elsewhere with the same port is another.
func TestBothEndsOnThisHost(t *testing.T) {
	server := Finding{Rule: &slowAnswers, Own: true, Sock: agg.Socket{Laddr: "10.0.0.1", Lport: 80, Raddr: "10.0.0.1", Rport: 5000, Passive: true}}
	client := Finding{Rule: &slowAnswers, Own: true, Far: true, Sock: agg.Socket{Laddr: "10.0.0.1", Lport: 5000, Raddr: "10.0.0.1", Rport: 80, Active: true}}
	elsewhere, stalls := client, client
	elsewhere.Sock.Raddr, stalls.Rule = "10.0.0.2", &stalledAnswers
	if kept := explained([]Finding{client, server, elsewhere, stalls}); len(kept) != 3 || kept[0].Far || kept[1].Sock.Raddr != "10.0.0.2" || kept[2].Rule != &stalledAnswers {
		t.Errorf("kept: %+v", kept)
	}
}

// TestExplainsOneWay: no rule is explained, over others, by itself, so that a cause always stays.
func TestExplainsOneWay(t *testing.T) {
	by := map[string]*Rule{}
	for _, r := range Rules {
		by[r.Name] = r
	}
	var walk func(from string, path []string)
	walk = func(from string, path []string) {
		if slices.Contains(path, from) {
			t.Fatalf("rules explain each other: %v", append(path, from))
		}
		if by[from] == nil {
			t.Fatalf("%v: no rule %s", path, from)
		}
		for _, to := range by[from].Explains {
			walk(to, append(path, from))
		}
	}
	for name := range by {
		walk(name, nil)
	}
}

// TestShelfGroups: findings about the same are one, the worst, with how many it stands for.
func TestShelfGroups(t *testing.T) {
	var s Shelf
	for i := range 7 {
		s.Add(Finding{Level: Slow, Over: float64(1 + i%4), What: fmt.Sprint("socket ", i), About: "port 80"})
	}
	s.Add(Finding{Level: Bad, Over: 1, What: "another", About: "port 81"})
	got := s.sorted()
	if len(got) != 2 || got[0].What != "another" || got[0].Of != 1 || got[1].Of != 7 || got[1].Over != 4 || !strings.Contains(got[1].Evidence, "the worst of 7 sockets (port 80)") {
		t.Errorf("%+v", got)
	}
}
