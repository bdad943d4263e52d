package agree

import (
	"maps"
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	rows, err := Lines([]byte("Tracing ... Hit Ctrl-C to end\nPID COMM LADDR LPORT RADDR RPORT OLDSTATE    -> NEWSTATE    MS\n"+
		"7 agree 127.0.0.1 0 127.0.0.1 18001 CLOSE       -> SYN_SENT    0.000\n7 agree 127.0.0.1 0 127.0.0.1 18001 CLOSE -> SYN_SENT 1\n"+
		"9 sshd 10.0.0.1 22 10.0.0.2 50000 CLOSE -> SYN_SENT 1\n\n        tcp_sendmsg+5\n"), []string{"RPORT", "OLDSTATE", "NEWSTATE"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := rows.Tally([]string{"RPORT", "OLDSTATE", "NEWSTATE"}, map[string]string{"COMM": "!sshd"}, "")
	if want := (Counts{"18001 CLOSE SYN_SENT": 2}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := Lines([]byte("nothing\n"), []string{"PID"}); err == nil {
		t.Error("output without a heading was accepted")
	}
}

func TestHistograms(t *testing.T) {
	rows, err := Histograms([]byte("Tracing SYN backlog size. Ctrl-C to end.\n\nbacklog_max = 5\n     backlog             : count    distribution\n" +
		"         0 -> 1          : 2        |****|\n         2 -> 3          : 0        |    |\n         4 -> 7          : 3        |****|\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := rows.Tally([]string{"key", "low"}, map[string]string{"key": "5*"}, "")
	if want := (Counts{"5 0": 2, "5 4": 3}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := Histograms([]byte("nothing\n")); err == nil {
		t.Error("output without a histogram was accepted")
	}
}

func TestBpftrace(t *testing.T) {
	got, printed, err := Bpftrace([]byte(`a warning
{"type": "attached_probes", "data": {"probes": 3}}
{"type": "time", "data": "10:00:00 "}
{"type": "printf", "data": "7 agree\n"}
{"type": "map", "data": {"@tcp": {"tcp_sendmsg,7": 12}}}
{"type": "map", "data": {"@sum": 5}}
{"type": "hist", "data": {"@bytes": {"lo": [{"min": 64, "max": 127, "count": 3}, {"min": 128, "max": 255, "count": 0}]}}}
`))
	if err != nil || string(printed) != "10:00:00 7 agree\n" {
		t.Fatalf("printed %q, %v", printed, err)
	}
	for name, want := range map[string]map[string]string{"tcp": {"key": "tcp_sendmsg 7", "count": "12"}, "sum": {"count": "5"},
		"bytes": {"key": "lo", "low": "64", "count": "3"}} {
		if len(got[name]) == 0 || !maps.Equal(got[name][0], want) {
			t.Errorf("map %s: %v, want %v", name, got[name], want)
		}
	}
}

func TestAnswer(t *testing.T) {
	rows, err := Answer([]byte(`{"answers":[{"analysis":"tcplife","tables":[{"name":"other","rows":[]},
		{"name":"sessions","rows":[{"laddr":"::1","lport":18002,"bytes":3000,"low":1,"sock":"0xffff"},{"laddr":"::1","lport":18002,"bytes":3000,"low":0,"sock":"0xffff"}]}]}]}`), "sessions")
	if err != nil {
		t.Fatal(err)
	}
	got, err := rows.Tally([]string{"laddr:lport", "lport/laddr", "bytes/1024", "low|1", "sock"}, nil, "")
	if want := (Counts{"::1:18002 18002/::1 2.93 0 ffff": 2}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := rows.Tally([]string{"nowhere"}, nil, ""); err == nil {
		t.Error("a column that is not there was accepted")
	}
}

func TestDifferences(t *testing.T) {
	ds, missed := Differences(Counts{"a": 1, "b": 2}, Counts{"b": 3, "c": 1})
	if want := []string{"a: 1 there, 0 here", "b: 2 there, 3 here", "c: 0 there, 1 here"}; !slices.Equal(ds, want) || missed {
		t.Errorf("%v, %t, want %v, not missed", ds, missed, want)
	}
	if _, missed := Differences(Counts{"a": 1}, Counts{"a": 2}); !missed {
		t.Error("a tool that saw less is not known as such")
	}
}

func TestRuns(t *testing.T) {
	for kernel, want := range map[string]bool{"5.10": false, "6.1": true, "6.12": true, "6.18": false, "newest": false} {
		if got := (Comparison{Since: "6.1", Until: "6.12"}).Runs(kernel); got != want {
			t.Errorf("kernel %s: %t, want %t", kernel, got, want)
		}
	}
}

func TestSymbols(t *testing.T) {
	got := Symbols([]byte(`print fmt: "reason: %s", __print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, { 3, "NO_SOCKET" })`))
	if want := map[string]string{"2": "NOT_SPECIFIED", "3": "NO_SOCKET"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTable(t *testing.T) {
	v := verdict{Comparison: Comparison{Tool: "tool", Ours: "tcplife --compat", Known: "a reason"}, kernel: "6.12", there: 3, here: 5, differences: []string{"x"}}
	got := verdicts(section("6.12", []verdict{v}))
	if want := map[string]string{v.id(): "differ: a reason"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
