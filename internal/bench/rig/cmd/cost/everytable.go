package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"netrec/schema"
)

// notMeasured stands where a table has no number.
const notMeasured = "not measured"

// line is one event in the table of all.
type line struct {
	event     *schema.Event
	here, vm  *hits
	ns        float64 // per row; of what is only in the guest, from the ratio there
	ratio     float64 // to the reference in the guest
	estimated bool
}

// everyEvent prints what each event costs in the kernel, heaviest first.
func (b *bench) everyEvent() error {
	begin(headEvery)
	here, err := b.here()
	if err != nil {
		return fmt.Errorf("every event: %w", err)
	}
	var emulated emulation
	if *vm {
		if emulated, err = b.inGuest(); err != nil {
			fmt.Fprintf(os.Stderr, "cost: events that this machine has no hook for are left out: %v\n", err)
		}
	}
	lines := everyLines(here, emulated.Hits)
	fmt.Print("Time in the kernel by BPF's own statistics (`kernel.bpf_stats_enabled`) while the traffic of the tests runs with all\n" +
		"events on at once: means of the better of two runs, so caches are as cold as in real traffic, without the way to the\n" +
		"program (10 to 20 ns for a raw tracepoint, 60 for one of a system call, about 1 µs for a probe in a library). A program\n" +
		"also runs for what is then left out: other calls, other allocations, packets without a mark. The last column is the\n" +
		"same in an emulated Linux " + cmp.Or(emulated.Kernel, "(not booted)") + ", where every hook exists, relative to `" + reference + "` there; ≈ is this ratio times what\n" +
		"`" + reference + "` costs here, for events that this machine's kernel has no hook for, or no traffic. Of `func_count` and\n" +
		"`tp_count` an event is a hit: their rows are sums. What is rare in this traffic (`tcp_tlp`, once or twice a run) finds\n" +
		"everything cold.\n\n" +
		"| event | profile | ns per event | runs per event | ns per run | × `" + reference + "` in the guest |\n|---|---|---:|---:|---:|---:|\n")
	for _, l := range lines {
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", l.event.Name, l.event.Profile, l.perRow(), l.runsPerRow(), l.perRun(), l.inGuest())
	}
	for _, e := range schema.Events {
		if !e.Own() && !slices.ContainsFunc(lines, func(l line) bool { return l.event.Name == e.Name }) {
			fmt.Printf("| %s | %s | %s |  |  |  |\n", e.Name, e.Profile, notMeasured)
		}
	}
	fmt.Println()
	return nil
}

// everyLines joins the two measurements and sorts by cost.
func everyLines(here, vm []hits) []line {
	find := func(hs []hits, event string) *hits {
		i := slices.IndexFunc(hs, func(h hits) bool { return h.Event == event })
		if i < 0 {
			return nil
		}
		return &hs[i]
	}
	refHere, refVM := find(here, reference), find(vm, reference)
	var lines []line
	for i := range schema.Events {
		l := line{event: &schema.Events[i], here: find(here, schema.Events[i].Name), vm: find(vm, schema.Events[i].Name)}
		if l.vm != nil && refVM != nil {
			l.ratio = l.vm.perRow() / refVM.perRow()
		}
		switch {
		case l.here != nil:
			l.ns = l.here.perRow()
		case l.ratio > 0 && refHere != nil:
			l.ns, l.estimated = l.ratio*refHere.perRow(), true
		default:
			continue
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.ns, a.ns) })
	return lines
}

func (l *line) perRow() string {
	if l.estimated {
		return fmt.Sprintf("≈ %.0f", l.ns)
	}
	return fmt.Sprintf("%.0f", l.ns)
}

func (l *line) runsPerRow() string {
	h := cmp.Or(l.here, l.vm)
	return fmt.Sprintf("%.1f", float64(h.Runs)/float64(h.Rows))
}

func (l *line) perRun() string {
	if l.here == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", l.here.perRun())
}

func (l *line) inGuest() string {
	if l.ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", l.ratio)
}
