package main

import (
	"testing"

	"netrec/internal/bench/rig"
)

// A joint program's time goes to its events by their rows, and none is left over: without that the
// events of packets had no cost, and neither had a recording of them.
func TestJointSplit(t *testing.T) {
	s := between(moment{}, moment{programs: []rig.Program{
		{Name: "net_dev_queue_joint", Runs: 100, RunNS: 20_000},
		{Name: "sock_io_send_tp", Runs: 7, RunNS: 700},
	}})
	s["dev_queue"].Rows, s["icmp_echo"].Rows = 90, 20 // half of the echoes are arrivals, which another program sees
	s.split()
	for event, want := range map[string]hits{
		"dev_queue": {"dev_queue", 90, 90, 18_000},
		"icmp_echo": {"icmp_echo", 20, 10, 2_000},
		"ip_ecn":    {"ip_ecn", 0, 0, 0},
		"sock_io":   {"sock_io", 0, 7, 700},
	} {
		if *s[event] != want {
			t.Errorf("%s: %+v, want %+v", event, *s[event], want)
		}
	}
}
