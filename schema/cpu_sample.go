package schema

// CPUSample is what a CPU was doing at a tick of a timer.
type CPUSample struct {
	Header
	KStack [64]uint64 `col:"kstack" as:"kstack"`
	UStack [64]uint64 `col:"ustack" as:"ustack"`
}

// 49 and not 50, so that samples do not keep step with what runs at round intervals.
var cpuSample = Event{ID: 113, Name: "cpu_sample", Row: CPUSample{}, Rate: High, Profile: Default,
	Groups: []string{"cpu"},
	Doc:    "what a CPU was doing, 49 times a second; idle CPUs give no rows",
	Ladder: []Rung{{{Kind: Perf, Target: "cpu-clock@49", Prog: "cpu_sample_perf"}}}}
