package hook

import (
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

func TestCandidates(t *testing.T) {
	const symbols = `ffffffff81000000 t pfifo_fast_enqueue
ffffffff81000100 T qdisc_enqueue
ffffffff81000200 t __pfx_pfifo_fast_enqueue
ffffffff81000300 d red_enqueue_table
ffffffffc0000000 t fq_enqueue	[sch_fq]
ffffffffc0000100 t same_enqueue	[sch_a]
ffffffffc0000200 t same_enqueue	[sch_b]
ffffffffc0000300 t fq_enqueue.cold	[sch_fq]
ffffffffc0000400 t cake_dequeue_one	[sch_cake]
ffffffffc0000500 t cake_dequeue	[sch_cake]
ffffffffc0000600 t qdisc_peek_dequeued	[sch_cake]
`
	got, err := candidates(strings.NewReader(symbols))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]function{
		"Qdisc_ops:enqueue": {{"pfifo_fast_enqueue", ""}, {"fq_enqueue", "sch_fq"}},
		"Qdisc_ops:dequeue": {{"cake_dequeue", "sch_cake"}},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
}

// The functions of pfifo_fast are in every kernel that has queueing disciplines.
func TestMembersOfThisKernel(t *testing.T) {
	types, err := btf.LoadKernelSpec()
	if err != nil {
		t.Skip("this kernel shows no BTF: prototypes are not compared")
	}
	for name, target := range map[string]string{"pfifo_fast_enqueue": "Qdisc_ops:enqueue", "pfifo_fast_dequeue": "Qdisc_ops:dequeue"} {
		if !members[target].fits(types, name) {
			t.Errorf("%s is not taken for %s", name, target)
		}
	}
	for name, target := range map[string]string{"__dev_queue_xmit": "Qdisc_ops:enqueue", "pfifo_fast_dequeue": "Qdisc_ops:enqueue", "skb_dequeue": "Qdisc_ops:dequeue"} {
		if members[target].fits(types, name) {
			t.Errorf("%s is taken for %s", name, target)
		}
	}
}
