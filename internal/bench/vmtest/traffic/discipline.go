package traffic

import (
	"fmt"
	"strings"
)

// discipline is a kind of queue, as tc is told to make it.
type discipline struct {
	// make is the kind and its options.
	make string
	// more are further commands; # stands for the handle and the device.
	more []string
	// bypass: as the root of a device the kernel hands packets past this kind while its
	// queue is empty; they count as sent all the same.
	bypass bool
	// root: it cannot be below another, since it deals packets out to the queues of a device.
	root bool
	// small: also small kernels have it.
	small bool
}

func (d discipline) kind() string { return strings.Fields(d.make)[0] }

// all sends everything to class 1.
const all = "filter add # protocol all prio 1 matchall classid %[1]x:1"

// toQueues deals 16 priorities out to two queues of a device.
const toQueues = "num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 "

// disciplines are the kinds that Debian's kernels have, but for mq and mqprio, whose packets
// are those of the ones below, teql, which is a device, and plug, which is opened by hand.
// cbq left the kernel, 5.10 included.
var disciplines = []discipline{
	{make: "fq"},
	{make: "fq_codel", bypass: true},
	{make: "codel", bypass: true},
	{make: "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 100mbit"},
	{make: "tbf rate 100mbit burst 100kb latency 100ms", small: true},
	{make: "cbs idleslope 98688 sendslope -901312 hicredit 153 locredit -1389 offload 0"},
	{make: "pfifo_fast", bypass: true, small: true},
	{make: "pfifo", bypass: true, small: true},
	{make: "bfifo", bypass: true, small: true},
	{make: "pfifo_head_drop", bypass: true, small: true},
	{make: "htb default 1", more: []string{"class add # classid %[1]x:1 htb rate 100mbit"}, small: true},
	{make: "cake"},
	{make: "netem delay 1ms"},
	{make: "sfq", bypass: true},
	{make: "prio"},
	{make: "pie", bypass: true},
	{make: "fq_pie", bypass: true},
	{make: "hfsc default 1", more: []string{"class add # classid %[1]x:1 hfsc sc rate 100mbit"}},
	{make: "drr", more: []string{"class add # classid %[1]x:1 drr", all}},
	{make: "qfq", more: []string{"class add # classid %[1]x:1 qfq weight 10", all}},
	{make: "ets bands 3 strict 1 quanta 3000 2000"},
	{make: "sfb"},
	{make: "choke limit 1000 min 100 max 300 bandwidth 100mbit burst 150", bypass: true},
	{make: "gred setup vqs 2 default 1"},
	{make: "hhf"},
	{make: "skbprio limit 100"},
	{make: "multiq", root: true},
	{make: "taprio " + toQueues + "base-time 0 sched-entry S 03 1000000 clockid CLOCK_TAI", root: true},
	{make: "etf clockid CLOCK_TAI delta 200000 skip_sock_check"}, // drops what has no time to be sent at
}

// loadDisciplines loads the kinds before a recorder looks which functions there are. Some
// are no modules, or unknown to a kernel.
func loadDisciplines() {
	for _, d := range disciplines {
		_ = command("modprobe", "sch_"+d.kind())
	}
}

// above is a discipline that gives all packets to the one below its first class.
const above = "prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"

// commands are what tc needs to put a discipline with a handle on a device: at the root, or
// below another one with a handle of its own.
func (d discipline) commands(dev string, handle, parent int) []string {
	out := []string{fmt.Sprintf("qdisc replace dev %s root handle %x: %s", dev, handle, d.make)}
	if parent != 0 {
		out = []string{fmt.Sprintf("qdisc replace dev %s root handle %x: %s", dev, parent, above),
			fmt.Sprintf("qdisc add dev %s parent %x:1 handle %x: %s", dev, parent, handle, d.make)}
	}
	for _, m := range d.more {
		m = strings.Replace(m, "#", fmt.Sprintf("dev %s parent %x:", dev, handle), 1)
		out = append(out, fmt.Sprintf(m, handle))
	}
	return out
}
