package agree

import (
	"maps"
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	got, err := Lines([]byte("Tracing ... Hit Ctrl-C to end\nPID COMM LADDR LPORT RADDR RPORT OLDSTATE    -> NEWSTATE    MS\n"+
		"7 python3 127.0.0.1 0 127.0.0.1 18001 CLOSE       -> SYN_SENT    0.000\n7 python3 127.0.0.1 0 127.0.0.1 18001 CLOSE -> SYN_SENT 1\n"+
		"9 sshd 10.0.0.1 22 10.0.0.2 50000 CLOSE -> SYN_SENT 1\n"), []string{"RPORT", "OLDSTATE", "NEWSTATE"})
	if want := (Counts{"18001 CLOSE SYN_SENT": 2}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := Lines([]byte("nothing\n"), []string{"PID"}); err == nil {
		t.Error("output without a heading was accepted")
	}
}

func TestCSV(t *testing.T) {
	got, err := CSV([]byte("laddr,lport,rport\n127.0.0.1,40000,18001\n10.0.0.1,22,9\n\nother,table\n1,2\n"), []string{"laddr", "rport"})
	if want := (Counts{"127.0.0.1 18001": 1}); err != nil || !maps.Equal(got, want) {
		t.Errorf("lines %v, %v, want %v", got, err, want)
	}
	got, err = CSV([]byte("low,high,count\n64,128,3\n128,256,0\n"), []string{"low"})
	if want := (Counts{"64": 3}); err != nil || !maps.Equal(got, want) {
		t.Errorf("counts %v, %v, want %v", got, err, want)
	}
}

func TestBpftrace(t *testing.T) {
	got, err := Bpftrace([]byte(`{"type": "attached_probes", "data": {"probes": 3}}
{"type": "map", "data": {"@tcp": {"tcp_sendmsg": 12}}}
{"type": "hist", "data": {"@send_bytes": [{"min": 64, "max": 127, "count": 3}, {"min": 128, "max": 255, "count": 0}]}}
`))
	if err != nil || got["@tcp"]["tcp_sendmsg"] != 12 || !maps.Equal(got["@send_bytes"], Counts{"64": 3}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDifferences(t *testing.T) {
	ds := Differences(Counts{"a": 1, "b": 2}, Counts{"b": 3, "c": 1})
	if want := []string{"a: 1 there, 0 here", "b: 2 there, 3 here", "c: 0 there, 1 here"}; !slices.Equal(ds, want) {
		t.Errorf("%v, want %v", ds, want)
	}
}
