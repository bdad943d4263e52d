package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// keyCount is how often a key was seen.
type keyCount struct {
	key Key
	n   int64
}

func counted(table func(render.Spec) *render.Table, k *Keys) *render.List[keyCount] {
	return render.ListOf(table, render.Spec{Name: "n", Look: render.MapCount, Keys: len(k.Fields)}, append(
		render.Within(func(c *keyCount) *Key { return &c.key }, k.Fields...), render.Num("count", func(c *keyCount) int64 { return c.n }))...)
}

// keyed counts the rows of an event by the keys that are asked for.
func keyed(event string, onCPU bool) *Analysis {
	return &Analysis{Name: "keyed", Question: "how many?", Options: []Option{By("comm", append(SocketKeys, "cpu", "ctx", "len")...)}, New: func(in *Input) Fold {
		cookie := in.Int("cookie")
		keys := in.Keys(map[string]KeyDef{"len": {render.Num("len", func(r *Row) int64 { return r.Int(cookie) })}})
		keys.OnCPU = onCPU
		t := counted(in.Table, keys)
		var counts agg.Keyed[Key, int64]
		in.On(event, func(r *Row) { *counts.At(keys.Of(r))++ })
		return FoldFunc(func(*render.Answer) {
			for _, k := range counts.Sorted(func(n *int64) int64 { return *n }, Key.Compare) {
				t.Line(keyCount{k, *counts.At(k)})
			}
		})
	}}
}

func TestKeys(t *testing.T) {
	tests := []struct {
		by    string
		onCPU bool
		want  string
	}{
		{"comm", false, "@n[curl]: 1\n@n[nginx]: 1\n@n[?]: 1\n"}, // before accept nothing is known of the second socket
		{"comm", true, "@n[curl]: 1\n@n[other]: 2\n"},
		{"pid,comm", false, "@n[7, curl]: 1\n@n[80, nginx]: 1\n@n[?, ?]: 1\n"},
		{"cgroup", false, "@n[/a]: 1\n@n[/b]: 1\n@n[?]: 1\n"},
		{"cgroup", true, "@n[/a]: 1\n@n[?]: 2\n"},
		{"none", false, "@n: 3\n"},
		{"port", false, "@n[80]: 1\n@n[443]: 1\n@n[?]: 1\n"},
		{"host", false, "@n[10.0.0.2]: 1\n@n[2001:db8::7]: 1\n@n[?]: 1\n"},
		{"lport,rport", false, "@n[80, 5555]: 1\n@n[40000, 443]: 1\n@n[?, ?]: 1\n"},
		{"sock", false, "@n[0xffff888000001000, 1]: 1\n@n[0xffff888000002000, 1]: 2\n"},
		{"ctx,len", false, "@n[softirq, 0]: 3\n"},
	}
	for _, tt := range tests {
		got, _ := run1(t, parse(t, "", twoProcesses), nil, Call{Analysis: keyed("tcp_rcv_est", tt.onCPU), Options: map[string]string{"by": tt.by}})
		if lines := strings.Split(tt.want, "\n"); !sameLines(got, lines) {
			t.Errorf("--by %s: got\n%swant\n%s", tt.by, got, tt.want)
		}
	}
}

// Recordings of earlier versions have no cgroups.
func TestCgroupsNotRecorded(t *testing.T) {
	got, _ := run1(t, parse(t, "", "+1ms dns_call pid=7 comm=curl host=x dur_ns=1\n"), nil, Call{Analysis: keyed("dns_call", false), Options: map[string]string{"by": "cgroup"}})
	if !strings.Contains(got, "@n[?]: 1\n") || !strings.Contains(got, "not recorded: the cgroup in 1 rows") {
		t.Error(got)
	}
}

func sameLines(got string, want []string) bool {
	var lines []string
	for _, l := range strings.Split(got, "\n") {
		if l != "" && l[0] != '#' {
			lines = append(lines, l)
		}
	}
	want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "" })
	slices.Sort(lines)
	slices.Sort(want)
	return slices.Equal(lines, want)
}

// TestKeysAreBounded makes more keys than there is room for and adds no memory for
// those that were seen.
func TestKeysAreBounded(t *testing.T) {
	in := &Input{Meta: &scan.Meta{}, call: Call{Analysis: keyed("dns_call", false), Options: map[string]string{"by": "cpu,comm"}}}
	k := in.Keys(nil)
	vecs := make([]scan.Vec, len(schema.Columns))
	cpu := []int64{0}
	vecs[schema.ColumnIndex("cpu")] = scan.Vec{Ints: cpu}
	vecs[schema.ColumnIndex("comm")] = scan.Vec{Index: []int32{0}, Dict: []string{"a name"}}
	vecs[schema.ColumnIndex("ctx")] = scan.Vec{Index: []int32{0}, Dict: []string{"task"}}
	at := scan.At(schema.ByName("dns_call"), 1, vecs, 0)
	r := &Row{Row: &at}
	first := k.Of(r)
	if n := testing.AllocsPerRun(100, func() { k.Of(r) }); n != 0 {
		t.Errorf("%v allocations per row", n)
	}
	for i := range int64(2 * agg.MaxKeys) {
		cpu[0] = i
		k.Of(r)
	}
	last := k.Of(r)
	if len(k.list) != agg.MaxKeys-1 || last.id != beyond || first.Compare(last) >= 0 || last.Compare(last) != 0 {
		t.Errorf("%d keys, the last is %d", len(k.list), last.id)
	}
	text := &strings.Builder{}
	out, err := render.NewOutput("text", render.Bpftrace, text, text)
	if err != nil {
		t.Fatal(err)
	}
	a := out.Answer("x")
	a.Begin(nil)
	tab := counted(a.Table, k)
	for _, key := range []Key{first, last} {
		tab.Line(keyCount{key, 1})
	}
	a.End()
	if err := out.Close(); err != nil || text.String() != "@n[0, a name]: 1\n@n[?, (more keys)]: 1\n\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
	if k.Forget(); k.Of(r).id == beyond || len(k.list) != 1 {
		t.Errorf("%d keys after all were forgotten and one was made", len(k.list))
	}
}

func TestByMistakes(t *testing.T) {
	all := []*Analysis{keyed("dns_call", false), {Name: "qdisclat", Aliases: []string{"qdisc-fq --kind fq"}, Options: []Option{{Name: "kind", Kind: Text}}}}
	for by, want := range map[string]string{"commm": "did you mean comm?", "pid,hots": "did you mean host?", "comm,none": "", "zzzzzzz": "", "": ""} {
		_, err := Parse(all, all[0], []string{"f", "keyed", "--by", by})
		if err == nil || err.(*UsageError).Meant != want || !strings.Contains(err.Error(), "is not one of comm, pid") {
			t.Errorf("--by %s: %v", by, err)
		}
	}
	req, err := Parse(all, all[0], []string{"f", "qdisc-fq", "qdisc-fq", "--kind", "red"})
	if err != nil || fmt.Sprint(req.Calls[0].Options, req.Calls[1].Options) != "map[kind:fq] map[kind:red]" {
		t.Errorf("alias with options: %v %v", req.Calls, err)
	}
	if _, err = Parse(all, all[0], []string{"f", "qdisc-fqq"}); err == nil || err.(*UsageError).Meant != "did you mean qdisc-fq?" {
		t.Errorf("near an alias: %v", err)
	}
}
