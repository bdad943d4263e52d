package engine

import (
	"strings"
	"testing"

	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// filling is a source whose scans memory ends after so many rows.
type filling struct {
	scan.Source
	rows int
	to   []int64 // of the scans
}

func (f *filling) Scan(q scan.Query, fn func(*scan.Row) error) error {
	f.to = append(f.to, q.To)
	n, at := 0, int64(0)
	err := f.Source.Scan(q, func(r *scan.Row) error {
		if n++; n > f.rows {
			return &scan.Full{Limit: 512 << 20, At: at}
		}
		at = r.TS
		return fn(r)
	})
	return err
}

// TestAnswersFromWhatFitted: when memory is full, every answer of the pass is from the rows
// before, says so first, and is not called exact.
func TestAnswersFromWhatFitted(t *testing.T) {
	const meta = `{"Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373180000000000}, "Hooks": [{"event": "skb_free", "state": "attached"}]}`
	var end int64
	ending := &Analysis{Name: "ending", New: func(in *Input) Fold {
		in.On("skb_free", func(*Row) {})
		return FoldFunc(func(*render.Answer) { end = in.End() - in.Start() })
	}}
	for _, rows := range []int{2, 3, 4} {
		src := &filling{Source: parse(t, meta, "+1s skb_free skb=0x1\n+2s skb_free skb=0x2\n+3s skb_free skb=0x3\n"), rows: rows}
		var out strings.Builder
		o, err := render.NewOutput("text", render.Bpftrace, &out, &out)
		if err != nil {
			t.Fatal(err)
		}
		oc, err := Run(src, []Call{{Analysis: counter("count", "skb_free")}, {Analysis: ending}}, Selection{}, o)
		if err != nil || o.Close() != nil {
			t.Fatal(err)
		}
		const said = "from the first 2.0 s of 60.0 s: the memory limit of 512 MiB was reached; --memory 2G gives it more"
		if part := rows < 3; part != strings.HasPrefix(out.String(), "# count: "+said+"\nN\n2\n") || part != strings.Contains(out.String(), "# ending: "+said) ||
			part == strings.Contains(out.String(), "exact") || part != (oc[0].Full != nil && oc[1].Full != nil) || part != (end == 2e9) {
			t.Errorf("%d rows, end %d: %s", rows, end, out.String())
		}
	}
}

// TestLaterScansEndWithTheFirst: where sockets are learnt before, and memory ends that, what
// comes later is not read.
func TestLaterScansEndWithTheFirst(t *testing.T) {
	src := &filling{Source: parse(t, "", twoProcesses), rows: 1}
	var out strings.Builder
	o, err := render.NewOutput("text", render.Bpftrace, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	oc, err := Run(src, []Call{{Analysis: counter("count", "tcp_rcv_est")}}, Selection{Pid: 7}, o)
	if err != nil || o.Close() != nil {
		t.Fatal(err)
	}
	if n := len(src.to); n < 2 || src.to[n-1] != oc[0].Full.At+1 || !strings.Contains(out.String(), "# count: from the first ") {
		t.Errorf("scans up to %v: %s", src.to, out.String())
	}
}
