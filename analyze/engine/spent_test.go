package engine

import (
	"testing"

	"netrec/analyze/render"
	"netrec/schema"
)

// What a recording cost is told from its first note to its last, whenever the first came; rows
// that were lost cost as much as others, and those that the kernel never showed the probe nothing.
func TestSpent(t *testing.T) {
	const meta = `{"Size": 12345, "Host": {"cpus": 8}, "Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373130000000000, "events": ["sock_io"]},
		"Losses": [{"event": "sock_io", "cpu": 1, "generated": 503, "recorded": 3, "lost_ring": 500}, {"event": "sock_io", "cpu": -1, "generated": 701, "lost_nested": 701}]}`
	src := parse(t, meta, `
+1s cost user_ns=600000000 sys_ns=300000000 rss_bytes=70000000 file_bytes=100
+2s sock_io sock=0xffff888000001000 pid=7 comm=curl dir=send ret=100 *3
+3s func_count symbol=tcp_sendmsg count=1009
+9s cost user_ns=620000000 sys_ns=312000000 rss_bytes=60000000 file_bytes=12000
`)
	var s *Spent
	a := &Analysis{Name: "spent", New: func(in *Input) Fold {
		s = in.Spent()
		return FoldFunc(func(*render.Answer) {})
	}}
	run1(t, src, nil, Call{Analysis: a})
	got := *s.Total()
	want := schema.Spent{CPUs: 8, Length: 10e9, Noted: 8e9, Recorder: 32e6, Bytes: 12345}
	want.Probes.Add(schema.ByName("sock_io"), 503)
	want.Probes.Add(schema.ByName("func_count"), 1009)
	if got != want || s.RSS != 70000000 || s.File != 12000 {
		t.Errorf("%+v, want %+v; %+v", got, want, s)
	}
}
