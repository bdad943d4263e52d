package schema

// Softirq is one run of a softirq vector, when it ends.
type Softirq struct {
	Header
	Dur    int64    `col:"dur_ns"`
	Vector uint16   `col:"vector" as:"enum softirq_vector" doc:"softirq vector, as /proc/softirqs names it"`
	_      [6]uint8 // multiple of eight
}

// IRQ is one run of a handler of a device's interrupt, when it ends.
type IRQ struct {
	Header
	Dur  int64    `col:"dur_ns"`
	Name [24]byte `col:"irq_name" as:"str" doc:"name under which the handler was registered, as in /proc/interrupts"`
	IRQ  int32    `col:"irq" doc:"number of the interrupt, as in /proc/interrupts"`
	Ret  uint16   `col:"irq_ret" as:"enum irq_ret" doc:"what the handler said: handled, none if the interrupt was not its own, wake_thread"`
	_    [2]uint8 // multiple of eight
}

// Interrupts belong to the machine: filters by namespace, process or port do not
// apply to them.
var (
	softirq = Event{ID: 105, Name: "softirq", Row: Softirq{}, Rate: High, Profile: Default, Thin: ByTime,
		Groups: []string{"interrupts"},
		Doc:    "a softirq vector was run; not filtered, since it serves the whole machine",
		Ladder: []Rung{{{Kind: RawTP, Target: "softirq_entry", Args: 1, Prog: "softirq_entry_tp"},
			{Kind: RawTP, Target: "softirq_exit", Args: 1, Prog: "softirq_exit_tp"}}}}
	irq = Event{ID: 106, Name: "irq", Row: IRQ{}, Rate: High, Profile: Default, Thin: ByTime,
		Groups: []string{"interrupts"},
		Doc:    "a device's interrupt was handled; not filtered, since it serves the whole machine",
		Ladder: []Rung{{{Kind: RawTP, Target: "irq_handler_entry", Args: 2, Prog: "irq_entry_tp"},
			{Kind: RawTP, Target: "irq_handler_exit", Args: 3, Prog: "irq_exit_tp"}}}}
)
