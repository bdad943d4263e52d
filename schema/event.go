package schema

// Kind is a mechanism by which a probe is attached.
type Kind string

// The mechanisms, in the order in which a ladder usually tries them.
const (
	RawTP     Kind = "raw_tp"    // raw tracepoint: cheapest, no BTF function needed
	Syscall   Kind = "syscall"   // tracepoint syscalls:sys_{enter,exit}_*
	Fentry    Kind = "fentry"    // needs the function in BTF and a trampoline
	Fexit     Kind = "fexit"     //
	Kprobe    Kind = "kprobe"    // needs the symbol in kallsyms and CONFIG_KPROBES
	Kretprobe Kind = "kretprobe" //
	Uprobe    Kind = "uprobe"    // Target is library:function, library as in libc
	Uretprobe Kind = "uretprobe" //
	Perf      Kind = "perf"      // Target is a software event of perf and its frequency, cpu-clock@49

	// For what the user names with patterns; Target is AnyTarget.
	KprobeMulti Kind = "kprobe_multi" // many functions at once, needs CONFIG_FPROBE
	PlainTP     Kind = "tp"           // raw tracepoint of which only the name is needed
)

// AnyTarget stands for the targets that the user's patterns choose.
const AnyTarget = "*"

// Hook is one program at one place of the kernel or of a library.
type Hook struct {
	Kind   Kind
	Target string // tracepoint, syscall or function; or structure:member, for all functions that the kernel has for it
	Prog   string // name of the BPF program

	// Args is how many arguments the kernel's tracepoint or function must have,
	// 0 for any. Prototypes do not follow version numbers (stable back-ports), so
	// a program for each argument list exists and BTF decides.
	Args int

	// Optional marks a hook whose absence leaves the rung valid: a function that
	// some kernels inline, or a syscall that older ones or other processors lack.
	Optional bool

	// Detail marks a hook that only enriches rows with further columns. It is
	// attached under the profile full.
	Detail bool

	// Costly marks a hook that runs far more often than the event happens. A share of the event
	// is not worth it: the hook is used only where all of it is recorded.
	Costly bool

	// Again marks the second program at the same place, which takes the events that the
	// kernel did not show the first because it was already running on that CPU.
	Again bool

	// Module is the kernel module that has the target; while it is not loaded, the hook
	// cannot be attached.
	Module string

	// Without names a structure that the kernel must not have: the program relies on
	// layouts from before it came.
	Without string

	// Joint marks a hook at a place that hooks of other events have too, and that is passed so
	// often that each program there counts: where all of them are wanted, one program does
	// the work of all. See Joints.
	Joint bool

	// Missed is what nothing sees where this hook is not attached; of a hook below the first
	// rung, what of that it does not see either.
	Missed string

	// CallSite names a function that the probe tells calls from by its addresses, and
	// cannot do without.
	CallSite string
}

// String is the hook as `netrec probes` and error messages name it.
func (h Hook) String() string { return string(h.Kind) + ":" + h.Target }

// Rung is a set of hooks that together see the event.
type Rung []Hook

// Rate is how often an event happens on a busy host.
type Rate string

// Rates as catalogued. Of extreme events the profile default draws a share, or does without.
const (
	Low     Rate = "low"
	Medium  Rate = "medium"
	High    Rate = "high"
	Extreme Rate = "extreme"
)

// Profile is a named budget: each contains the ones before it.
type Profile string

// The profiles of netrec record --profile, by what an event's probes cost also where they
// make no row: light runs per connection, per descriptor and when things go wrong;
// default also per send, receive and TCP segment, and draws a share of packets, interrupts and
// file I/O; full has all of these, and plain system calls.
const (
	Light   Profile = "light"
	Default Profile = "default"
	Full    Profile = "full"
)

// Asked is the profile of events that no profile includes, because they must be told what
// to look at, or are for few questions and cost much.
const Asked Profile = "asked"

// Thin is what a share of an event's rows is a share of. Under the profile default such events
// are recorded for DefaultShare, because they happen for every packet, file and interrupt.
type Thin string

// What is drawn; bpf/share.h has how.
const (
	ByPacket Thin = "packets" // a packet with all its rows, from its first to its last
	ByTime   Thin = "time"    // all that begins within drawn ticks of the kernel's timer
	ByCall   Thin = "calls"   // in drawn ticks, and always those that hold data back and the next on that socket
	ByWait   Thin = "waits"   // in drawn ticks, and always those of a process with a connect under way

	// ByConn is for events that are recorded whole unless a budget leaves no room for that
	// (bpf/budget.h): a connection with all its rows.
	ByConn Thin = "connections"
)

// DefaultShare is the share of the profile default.
var DefaultShare = Share{Keep: 1, Of: 16}

// Profiles lists the profiles, cheapest first.
var Profiles = []Profile{Light, Default, Full}

// Event is one kind of row.
type Event struct {
	ID      uint16  // in the ring record only; the file stores Name
	Name    string  // value of the column event
	Doc     string  // one sentence
	Row     any     // zero value of the row struct
	Rate    Rate    // decides the ring: low and medium events have one of their own
	Profile Profile // cheapest profile that includes the event; "" for the recorder's own rows
	Groups  []string
	Ladder  []Rung // tried in order; the first whose hooks exist is used
	Unseen  string // what passes all of its hooks by, on any kernel; "" for nothing known
	Tasks   bool   // only tasks do it: its context need not be asked for
	Thin    Thin   // what is drawn where only a share is recorded, or a budget leaves room for; "" for events that are always whole

	// What the event is to others.
	Says       Says       // what its rows say about their socket
	Stranger   bool       // its socket is a listener, and its ends are those of a connection to be
	Descriptor Descriptor // what its rows say about descriptors
	Identity   Identity   // whether analyses of sockets read it to know who they are
	InCall     bool       // its hook is a function of the kernel that only tasks call, so that it is in a task's own context
	AskedBy    string     // option of netrec record that asks for it, where no profile includes it

	size   int
	fields []Field
}

// Own reports whether the recorder itself writes the event, without a hook.
func (e *Event) Own() bool { return len(e.Ladder) == 0 }

// Rare reports whether the event uses the ring that hot events cannot flood.
func (e *Event) Rare() bool { return e.Rate == Low || e.Rate == Medium }

// Drawn reports whether --packets and the profile default record a share of the event.
func (e *Event) Drawn() bool { return e.Thin != "" && e.Thin != ByConn }

// Counts reports whether the event counts what the user names; its rows are sums.
func (e *Event) Counts() bool { return !e.Own() && e.Ladder[0][0].Target == AnyTarget }

// Module is the kernel module that makes the event, "" for the kernel itself.
func (e *Event) Module() string {
	if e.Own() {
		return ""
	}
	return e.Ladder[0][0].Module
}

// Libraries reports whether the event is seen by probes in user libraries.
func (e *Event) Libraries() bool {
	for _, r := range e.Ladder {
		for _, h := range r {
			if h.Kind == Uprobe {
				return true
			}
		}
	}
	return false
}

// ByName finds an event by its name, nil if there is none.
func ByName(name string) *Event {
	for i := range Events {
		if Events[i].Name == name {
			return &Events[i]
		}
	}
	return nil
}

// ByID finds an event by the id in a ring record, nil if there is none.
func ByID(id uint16) *Event {
	if int(id) < len(byID) {
		return byID[id]
	}
	return nil
}

// MaxID is one more than the highest event id; the size of counter tables.
var MaxID = len(byID)

var byID = func() []*Event {
	var t []*Event
	for i := range Events {
		id := int(Events[i].ID)
		for len(t) <= id {
			t = append(t, nil)
		}
		t[id] = &Events[i]
	}
	return t
}()
