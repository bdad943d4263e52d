package export

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"netrec/analyze/engine/eventtext"
	"netrec/analyze/scan"
	"netrec/schema"
)

func source(t *testing.T, events string) scan.Source {
	t.Helper()
	src, err := eventtext.Parse("", events)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Equal stacks are one line; what would be taken for syntax or steers a terminal is not.
func TestFolded(t *testing.T) {
	src := source(t, `
+1ms skb_drop pid=7 comm=a;b kstack=entry;drop *3
+2ms skb_drop pid=8 comm=curl kstack=entry;drop
+3ms skb_drop pid=8 comm=curl *2
+4ms cpu_sample pid=8 comm=curl ustack=main;work kstack=entry`)
	for _, tt := range []struct {
		events []string
		want   string
		bare   int64
	}{
		{[]string{"skb_drop"}, "a:b;entry;drop 3\ncurl;entry;drop 1\n", 2},
		{nil, "cpu_sample;curl;main;work;entry 1\nskb_drop;a:b;entry;drop 3\nskb_drop;curl;entry;drop 1\n", 2},
	} {
		var out bytes.Buffer
		bare, err := Folded(src, tt.events, &out)
		if err != nil || out.String() != tt.want || bare != tt.bare {
			t.Errorf("%v: %v, %d rows without a stack\n%s", tt.events, err, bare, out.String())
		}
	}
	if _, err := Folded(src, []string{"tcp_state"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "skb_drop") {
		t.Errorf("stacks of an event that has none: %v", err)
	}
}

// Rows come in batches, with every column of the table and NULL where there is nothing.
func TestArrow(t *testing.T) {
	src := source(t, "+1ms sock_io sock=0xffff888000001000 pid=7 comm=curl ret=10 *17000\n+2ms tcp_state sock=0xffff888000001000 pid=7 comm=curl old_state=SYN_SENT new_state=ESTABLISHED")
	var out bytes.Buffer
	if err := Arrow(src, []string{"sock_io"}, &out); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if n := r.Schema().NumFields(); n != len(schema.Columns) {
		t.Errorf("%d columns, want %d", n, len(schema.Columns))
	}
	rows, batches := int64(0), 0
	for r.Next() {
		rec := r.Record()
		ret, state := rec.Column(schema.ColumnIndex("ret")).(*array.Int64), rec.Column(schema.ColumnIndex("new_state"))
		if ret.Value(0) != 10 || !state.IsNull(0) || rec.Column(schema.ColumnIndex("event")).(*array.String).Value(0) != "sock_io" {
			t.Errorf("batch %d: ret %v, new_state %v", batches, ret.Value(0), state)
		}
		rows += rec.NumRows()
		batches++
	}
	if r.Err() != nil || rows != 17000 || batches != 2 {
		t.Errorf("%d rows in %d batches, %v", rows, batches, r.Err())
	}
}
