package schema

import (
	"fmt"
	"slices"
)

// Keys of the footer's key/value metadata. Values are JSON of the type named.
const (
	KeyFormat     = "netrec.format"     // int, FormatVersion
	KeyVersion    = "netrec.version"    // string
	KeyHost       = "netrec.host"       // Host
	KeyClock      = "netrec.clock"      // []Anchor: start, newest or stop
	KeyRecording  = "netrec.recording"  // Recording
	KeyHooks      = "netrec.hooks"      // []EventHooks
	KeyLosses     = "netrec.losses"     // []Count
	KeyBudget     = "netrec.budget"     // Budget; absent where there was none
	KeySysctls    = "netrec.sysctls"    // map[string]string
	KeyInterfaces = "netrec.interfaces" // []Interface
	KeyQdiscs     = "netrec.qdiscs"     // []Qdisc
	KeySockets    = "netrec.sockets"    // []Socket
	KeyEnums      = "netrec.enums"      // map[string]map[string]int64, as this kernel numbers them
	KeyCounters   = "netrec.counters"   // Counters, nstat's view
	KeyObjects    = "netrec.objects"    // []Object: files that frames of user stacks are in
	KeyLibrary    = "netrec.library"    // Library, in a row only: one that appeared during the recording
	KeyLate       = "netrec.late"       // Late, in a row only
	KeyModule     = "netrec.module"     // Module, in a row only
	KeyShare      = "netrec.share"      // ShareChange, in a row only
)

// Host is where the recording was made.
type Host struct {
	Name    string `json:"name"`
	Kernel  string `json:"kernel"`
	Machine string `json:"machine"`
	BootID  string `json:"boot_id"`
	CPUs    int    `json:"cpus"`
	Zone    string `json:"zone"` // name of the time zone, with its offset at the start
	Offset  int    `json:"zone_offset_s"`
}

// Anchor ties the monotonic clock of the events to the wall clock.
type Anchor struct {
	At     string `json:"at"` // start, commit or stop
	Mono   int64  `json:"mono_ns"`
	Wall   int64  `json:"wall_ns"`
	Jitter int64  `json:"jitter_ns"` // the two were read within this time of each other
}

// Recording is what was asked for and how it ended.
type Recording struct {
	Command []string          `json:"command"`
	Profile string            `json:"profile,omitempty"`
	Events  []string          `json:"events"`
	Filters map[string]string `json:"filters,omitempty"` // by name; values of one are alternatives
	Sample  *Sample           `json:"sample,omitempty"`  // absent: all connections
	Buffer  int64             `json:"buffer_bytes"`

	// StackShare is set where stacks were taken for a share of the rows that tell little by them:
	// skb_drop with a reason that gives none, and dev_xmit. The others have NULL.
	StackShare bool `json:"stack_share,omitempty"`

	StartNS  int64    `json:"start_ns"`            // unix time at which the probes began to make rows, or the file begun
	AttachNS int64    `json:"attach_ns,omitempty"` // how long it took to load and attach the hooks, before that
	StopNS   int64    `json:"stop_ns,omitempty"`
	End      string   `json:"end,omitempty"` // timer, signal, count, command, error, next; empty: killed
	Warnings []string `json:"warnings,omitempty"`
	Part     *Part    `json:"part,omitempty"` // absent in files of other programs

	// Libraries are the files through which programs could look names up.
	Libraries []Library `json:"libraries,omitempty"`

	// Late is what came during the recording and was not seen from its start.
	Late []Late `json:"late,omitempty"`

	// Modules are those with queueing disciplines that the kernel loaded during the
	// recording: their functions have no hooks.
	Modules []Module `json:"late_modules,omitempty"`
}

// Picks reports whether probes also run for what makes no row: because of a filter, or where only a
// share of connections, packets or calls is recorded.
func (r *Recording) Picks(hooks []EventHooks) bool {
	return len(r.Filters) > 0 || r.Sample != nil || slices.ContainsFunc(hooks, func(h EventHooks) bool { return h.Share.Part() })
}

// Module is a module of the kernel.
type Module struct {
	Name    string `json:"name"`
	SinceNS int64  `json:"since_ns"` // unix time at which it was met, up to a second late
}

// longAttach is from when on its user should know how long attaching took, ns.
const longAttach = 2e9

// SlowAttach says that attaching the hooks took long, "" if it did not.
func SlowAttach(ns int64) string {
	if ns < longAttach {
		return ""
	}
	return fmt.Sprintf("attaching the hooks took %.1f s; the recording began after that", float64(ns)/1e9)
}

// EndNext is how a file ends after which the recording goes on in the next one.
const EndNext = "next"

// Part is the place of a file in its recording. StartNS, StopNS and the account of
// losses are the file's own; over all files of a recording they add up.
type Part struct {
	ID      string `json:"id"`       // the recording's: the same in all its files, and in no other
	Index   int    `json:"index"`    // 1, 2, 3 …
	BeganNS int64  `json:"began_ns"` // unix time at which the recording began
}

// Library is a file that programs call, as far as the recorder knew of it.
type Library struct {
	Path    string    `json:"path"`               // as its users name it
	Probed  bool      `json:"probed"`             // calls in it were seen
	Late    bool      `json:"late,omitempty"`     // it appeared during the recording
	SinceNS int64     `json:"since_ns,omitempty"` // unix time at which a late one was met, and probed
	Refused []Refusal `json:"refused,omitempty"`
}

// Late is a place that came during the recording, a CPU for one, where an event was seen
// later than elsewhere or not at all.
type Late struct {
	Event   string `json:"event"`
	Place   string `json:"place"`         // as a sentence names it: CPU 1
	SinceNS int64  `json:"since_ns"`      // unix time at which it was met, and probed
	Why     string `json:"why,omitempty"` // it could not be probed; empty: seen since then
}

// Object is a file of code that frames of user stacks lie in. A frame without a symbol is
// the name, a plus sign and the address in the file, as addr2line(1) takes it.
type Object struct {
	Name    string `json:"name"`               // in frames: base name, start of the build id in parentheses
	Path    string `json:"path"`               // as the first process that was met with it has it mapped
	BuildID string `json:"build_id,omitempty"` // of GNU, in hex
}

// Sample is which part of the connections was recorded: those whose hash, a number of 32
// bits that both ends agree on, is less than Keep/Of of all. docs/filters.md has the hash.
type Sample struct {
	Keep uint32 `json:"keep"`
	Of   uint32 `json:"of"`
	Seed uint32 `json:"seed"`
}

// States of an event in EventHooks.
const (
	HookAttached = "attached"
	HookMissing  = "missing"   // asked for, no rung of the ladder could be attached
	HookNotAsked = "not asked" //
)

// EventHooks is which hooks see an event on this kernel.
type EventHooks struct {
	Event   string    `json:"event"`
	State   string    `json:"state"`
	Hooks   []string  `json:"hooks,omitempty"`   // as Hook.String
	CameNS  []int64   `json:"came_ns,omitempty"` // unix time at which each hook was attached
	Refused []Refusal `json:"refused,omitempty"`
	Share   *Share    `json:"share,omitempty"` // absent: all of it
}

// Share is which part of an event was recorded, and of what it is a part.
type Share struct {
	Keep uint32 `json:"keep"`
	Of   uint32 `json:"of"`
	By   Thin   `json:"by"`
}

// Part reports whether a share is less than all; nil is all.
func (s *Share) Part() bool { return s != nil && s.Keep < s.Of }

// Refusal is a hook that could not be used, and why.
type Refusal struct {
	Hook string `json:"hook"`
	Why  string `json:"why"`

	// Variant: the probe is for another form of the target, which kernels before or after have.
	Variant bool `json:"variant,omitempty"`
}

// Count is the account of one event on one CPU: Generated = Recorded + Lost. CPU is -1
// for events that an interrupt brought while the same probe was running: the kernel
// counts those it did not show, but not where. With a filter on, some of them may not
// have been wanted, so that number is an upper bound.
type Count struct {
	Event     string `json:"event"`
	CPU       int    `json:"cpu"`
	Generated int64  `json:"generated"`
	Recorded  int64  `json:"recorded"`
	Ring      int64  `json:"lost_ring,omitempty"`
	Scratch   int64  `json:"lost_scratch,omitempty"`
	Writer    int64  `json:"lost_writer,omitempty"`
	Nested    int64  `json:"lost_nested,omitempty"`

	// Calls is how many calls an event that counts has counted, in the row of CPU -1: what
	// is lost there are calls, while Recorded and Generated of the CPUs are rows of many.
	Calls int64 `json:"calls,omitempty"`

	// Thinned is how many rows a budget left out; they are not among Generated.
	Thinned int64 `json:"thinned,omitempty"`
}

// Lost is how many events did not reach the file.
func (c Count) Lost() int64 { return c.Ring + c.Scratch + c.Writer + c.Nested }

// Add adds the numbers of another account.
func (c *Count) Add(o Count) {
	c.Generated += o.Generated
	c.Recorded += o.Recorded
	c.Ring += o.Ring
	c.Scratch += o.Scratch
	c.Writer += o.Writer
	c.Nested += o.Nested
	c.Calls += o.Calls
	c.Thinned += o.Thinned
}

// Interface is a network device at the start.
type Interface struct {
	Netns  uint32 `json:"netns"`
	Index  int    `json:"index"`
	Name   string `json:"name"`
	MTU    int    `json:"mtu"`
	Type   string `json:"type"`
	GSOMax uint32 `json:"gso_max_bytes,omitempty"`
	Driver string `json:"driver,omitempty"`
}

// Qdisc is a queueing discipline at the start.
type Qdisc struct {
	Netns  uint32 `json:"netns"`
	Index  int    `json:"ifindex"`
	Kind   string `json:"kind"`
	Handle string `json:"handle"`
	Parent string `json:"parent"`
}

// Socket is a socket that was alive when the recording began. Events name it by
// its cookie, which reading it from the kernel has made non-zero.
type Socket struct {
	Netns    uint32  `json:"netns"`
	Cookie   int64   `json:"cookie"`
	Family   string  `json:"family"`
	Protocol string  `json:"protocol"`
	State    string  `json:"state"`
	Laddr    string  `json:"laddr"`
	Lport    int     `json:"lport"`
	Raddr    string  `json:"raddr"`
	Rport    int     `json:"rport"`
	Inode    uint32  `json:"inode"`
	UID      uint32  `json:"uid"`
	Owners   []Owner `json:"owners,omitempty"`
}

// Owner is a process that had the socket open.
type Owner struct {
	Pid    int    `json:"pid"`
	Comm   string `json:"comm"`
	Cgroup string `json:"cgroup,omitempty"`
	FD     int    `json:"fd"`
	Waits  int    `json:"waits,omitempty"` // threads in a call that waits for the socket to give something
}

// Counters are the kernel's protocol counters at start and stop, by name as nstat has them,
// summed over the network namespaces that were recorded or had a process at the start.
type Counters struct {
	Start map[string]int64 `json:"start"`
	Stop  map[string]int64 `json:"stop,omitempty"`
	Netns []uint32         `json:"netns,omitempty"`    // inodes of those namespaces
	Left  int              `json:"left_out,omitempty"` // namespaces without a process, which are not in the sums
}
