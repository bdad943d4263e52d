package eventtext

import (
	"strings"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

func col(name string) scan.Col { return scan.Col(schema.ColumnIndex(name)) }

func TestParse(t *testing.T) {
	src, err := Parse(`{"Host": {"name": "h"}}`, `
# rows need not be in order
+2ms dns_call host="a b\x1b" dur_ns=5
+1ms tcp_state sock=0xffff888012345678 comm=curl ctx=softirq conn=[2001:db8::1]:1>10.0.0.2:443 *2
`)
	if err != nil {
		t.Fatal(err)
	}
	if m := src.Meta(); m.Rows["tcp_state"] != 2 || m.Rows["dns_call"] != 1 || m.FirstNS != Start+1e6 || m.LastNS != Start+2e6 || m.Host.Name != "h" {
		t.Errorf("metadata %+v", m)
	}
	n := 0
	err = src.Scan(scan.Query{}, func(r *scan.Row) error {
		switch n++; n {
		case 2:
			if r.TS != Start+1e6+1 || r.Uint(scan.MustInt("sock")) != 0xffff888012345678 || r.Str(scan.MustStr("laddr")) != "2001:db8::1" || r.Int(scan.MustInt("rport")) != 443 || r.HasStr(scan.MustStr("host")) {
				t.Errorf("second row: %d %x %s", r.TS, r.Uint(scan.MustInt("sock")), r.Str(scan.MustStr("laddr")))
			}
		case 3:
			if r.Str(scan.MustStr("host")) != "a b\x1b" || r.Str(scan.MustStr("ctx")) != "task" || r.HasStr(scan.MustStr("laddr")) || r.Event.Name != "dns_call" {
				t.Errorf("third row: %q", r.Str(scan.MustStr("host")))
			}
		}
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestSteps(t *testing.T) {
	src, err := Parse("", "+1ms skb_alloc skb=0xffff888100000000+0x100 *3")
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0xffff888100000000)
	err = src.Scan(scan.Query{}, func(r *scan.Row) error {
		if got := r.Uint(scan.MustInt("skb")); got != want {
			t.Errorf("address %x, want %x", got, want)
		}
		want += 0x100
		return nil
	})
	if err != nil || src.Len() != 3 {
		t.Errorf("%d rows, %v", src.Len(), err)
	}
}

func TestQuery(t *testing.T) {
	src, err := Parse("", "+1ms tcp_state sock=0x10 pid=7\n+2ms tcp_state sock=0x20 pid=8\n+3ms dns_call pid=9")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		q    scan.Query
		pids []int64
	}{
		{scan.Query{Columns: []scan.Col{col("pid")}}, []int64{7, 8, 9}},
		{scan.Query{Events: []string{"dns_call"}, Columns: []scan.Col{col("pid")}}, []int64{9}},
		{scan.Query{Sock: 0x20, Columns: []scan.Col{col("pid")}}, []int64{8}},
		{scan.Query{From: Start + 2e6, To: Start + 3e6, Columns: []scan.Col{col("pid")}}, []int64{8}},
	}
	for _, tt := range tests {
		var got []int64
		if err := src.Scan(tt.q, func(r *scan.Row) error { got = append(got, r.Int(scan.MustInt("pid"))); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(tt.pids) || got[0] != tt.pids[0] {
			t.Errorf("%+v: %v, want %v", tt.q, got, tt.pids)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a column was read that the query does not name")
		}
	}()
	_ = src.Scan(scan.Query{Columns: []scan.Col{col("sock")}}, func(r *scan.Row) error { r.Int(scan.MustInt("pid")); return nil })
}

func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"+1ms":                        "want a time and an event",
		"1 tcp_state":                 "missing unit",
		"+1ms tcp_stat":               "no event",
		"+1ms tcp_state nope=1":       "no column",
		"+1ms tcp_state pid=x":        "column pid",
		"+1ms tcp_state pid":          "want column=value",
		"+1ms tcp_state conn=1.2.3.4": "want local>remote",
		`+1ms tcp_state comm="a`:      "quote not closed",
		"+1ms tcp_state *x":           "invalid syntax",
	} {
		if _, err := Parse("", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := Parse(`{"Nope": 1}`, ""); err == nil {
		t.Error("unknown metadata was accepted")
	}
}
