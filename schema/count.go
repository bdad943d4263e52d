package schema

// Counted is how often a kernel function was called or a tracepoint passed on one CPU in
// some time, usually a second; those that were not have no row. Only sums are kept, on
// purpose: such places may be passed millions of times a second.
type Counted struct {
	Header
	Window int64  `col:"window_ns"`
	Count  int64  `col:"count" unit:"hits" doc:"how often it was passed on this CPU in that time"`
	Total  int64  `col:"count_total" unit:"hits" doc:"how often on this CPU since the recording began; more than the rows before add up to if rows were lost"`
	Symbol uint32 `col:"symbol" as:"ref" doc:"kernel function, or group and name of a tracepoint"`
	_      [4]uint8
}

// Which functions and tracepoints are counted says the user, with patterns. They serve the
// whole machine, so filters do not apply.
var (
	funcCount = Event{ID: 114, Name: "func_count", Row: Counted{}, Rate: Low, Profile: Asked,
		AskedBy: "--count-func PATTERN",
		Groups:  []string{"count"},
		Doc:     "how often a kernel function was called, for those that --count-func names; not filtered",
		Ladder: []Rung{
			{{Kind: KprobeMulti, Target: AnyTarget, Prog: "func_count_multi"}},
			{{Kind: Kprobe, Target: AnyTarget, Prog: "func_count_kprobe"}},
		}}
	tpCount = Event{ID: 115, Name: "tp_count", Row: Counted{}, Rate: Low, Profile: Asked,
		AskedBy: "--count-tp GROUP:PATTERN",
		Groups:  []string{"count"},
		Doc:     "how often a tracepoint was passed, for those that --count-tp names; not filtered",
		Ladder:  []Rung{{{Kind: PlainTP, Target: AnyTarget, Prog: "tp_count_tp"}}}}
)
