package traffic

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options say what traffic to make.
type Options struct {
	// Seed decides sizes.
	Seed uint64
	// Kinds to make, in this order; see [Kinds].
	Kinds []string
	// Counts override [DefaultCounts].
	Counts map[string]int
	// NamespaceA and NamespaceB are the client's and the server's. They are made
	// when they do not exist. Without B everything goes over loopback in A,
	// without A in the namespace of the process.
	NamespaceA, NamespaceB string
	// Machine: the whole machine is the run's own, and settings of all its namespaces
	// may be changed for a while.
	Machine bool
}

// kinds are the scenarios in their usual order.
var kinds = []struct {
	name string
	run  func(*worker)
}{
	{"tcp", (*worker).tcp},
	{"rst", (*worker).resets},
	{"backlog", (*worker).backlogs},
	{"ecn", (*worker).marks},
	{"echo", (*worker).echoes},
	{"close", (*worker).closes},
	{"nagle", (*worker).nagle},
	{"udp", (*worker).udp},
	{"unix", (*worker).unix},
	{"wait", (*worker).waits},
	{"dup", (*worker).dups},
	{"pass", (*worker).passes},
	{"exec", (*worker).execs},
	{"files", (*worker).files},
	{"wifi", (*worker).scans},
	{"ping", (*worker).pings},
	{"loss", (*worker).lossy},
	{"dns", (*worker).dns},
	{"queues", (*worker).queues},
	{"offload", (*worker).offloads},
	{"memory", (*worker).memory},
	{"tunnel", (*worker).tunnels},
}

// Kinds lists the kinds of traffic.
func Kinds() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// DefaultCounts are odd and all different, so that a mixed-up count shows.
var DefaultCounts = map[string]int{
	"tcp4": 23, "tcp6": 11, "tcpmapped": 7, "refused": 5, // kind tcp
	"synack": 5, "full": 7, // backlog
	"ce4": 11, "ce6": 7, "capable": 3, "marked": 5, // ecn
	"echo4": 13, "echo6": 9, // echo
	"resets":     9,                                                                             // rst
	"closerange": 13,                                                                            // close
	"nagle":      17,                                                                            // small writes, each with and without Nagle
	"udp4":       15, "udp6": 19, "udpmapped": 5, "udpmmsg": 3, "udpclosed": 21, "overflow": 37, // udp
	"unix":  25,                              // unix
	"waits": 31,                              // wait
	"dups":  33, "binds": 27, "bindopts": 63, // dup
	"passed": 35, "held": 29, "execs": 3, "fileio": 45, // pass, exec, files
	"scans":     5,                                   // wifi
	"pingfull":  39,                                  // ping
	"transfers": 3,                                   // loss
	"lookups":   9, "unknown": 3, "gethostbyname": 5, // dns
	"queued": 27, "burst": 41, // queues: datagrams through each discipline, and through a short one
	"copied":     5,  // offload
	"overmemory": 29, // memory
	// tunnel: datagrams through each, by the header that is marked, and packets made by hand
	"innermarked": 9, "outermarked": 5, "bothmarked": 7, "unfit": 3,
}

// Run makes the traffic and gives the log. The calling goroutine's thread is
// moved between namespaces and must not be used for anything else afterwards.
func Run(o Options) (log *Log, err error) {
	if o.NamespaceA != "" {
		if err := Setup(o.NamespaceA, o.NamespaceB); err != nil {
			return nil, fmt.Errorf("setting up the link: %w", err)
		}
	}
	runtime.LockOSThread()
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unexpected)
			if !ok {
				panic(r)
			}
			err = u.error
		}
	}()
	w, err := newWorker(o)
	if err != nil {
		return nil, err
	}
	for _, kind := range o.Kinds {
		i := slices.Index(Kinds(), kind)
		if i < 0 {
			return nil, fmt.Errorf("unknown kind %q; known are %s", kind, strings.Join(Kinds(), ", "))
		}
		w.phase(kind, kinds[i].run)
	}
	w.finishLog()
	return w.log, nil
}

func newWorker(o Options) (*worker, error) {
	want := maps.Clone(DefaultCounts)
	for name, n := range o.Counts {
		if _, ok := want[name]; !ok || n < 0 {
			return nil, fmt.Errorf("unknown count %s=%d", name, n)
		}
		want[name] = n
	}
	l, err := newLink(o.NamespaceA, o.NamespaceB)
	if err != nil {
		return nil, err
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return nil, fmt.Errorf("asking for the kernel's release: %w", err)
	}
	w := &worker{
		link: l, machine: o.Machine, want: want, rand: rand.New(rand.NewPCG(o.Seed, 0)), mu: &sync.Mutex{}, tid: unix.Gettid(),
		log: &Log{
			Seed: o.Seed, Kernel: unix.ByteSliceToString(uts.Release[:]), PID: os.Getpid(), TID: unix.Gettid(),
			Begin: now(), Netem: l.netem, Machine: o.Machine, Degraded: l.degraded, Wanted: want,
			Namespaces: map[Side]Namespace{}, Counters: map[Side]Counters{},
		},
	}
	for _, side := range []Side{A, B} {
		var st unix.Stat_t
		if err := unix.Fstat(l.fds[side], &st); err != nil {
			return nil, fmt.Errorf("looking at a network namespace: %w", err)
		}
		w.log.Namespaces[side] = Namespace{l.names[side], st.Ino, l.addrs[side][0].String(), l.addrs[side][1].String()}
		w.log.Counters[side] = Counters{Before: w.counters(side)}
	}
	w.log.Interrupts = append(w.log.Interrupts, w.interrupts())
	return w, nil
}

func (w *worker) counters(side Side) map[string]int {
	w.in(side)
	all, err := ReadCounters()
	if err != nil {
		w.fail("%w", err)
	}
	return all
}

// phase runs one kind between two looks at the counters, with the connections
// of the kind ended before the second.
func (w *worker) phase(kind string, run func(*worker)) {
	w.kind = kind
	a, b := w.counters(A), w.counters(B)
	p := Phase{Kind: kind, Begin: now()}
	run(w)
	w.drain()
	p.End = now()
	p.Delta = map[Side]map[string]int{A: changes(a, w.counters(A)), B: changes(b, w.counters(B))}
	w.log.Phases = append(w.log.Phases, p)
}

// drain waits until every TCP socket of both sides has ended or is in TIME_WAIT,
// so that all their last state changes are made.
func (w *worker) drain() {
	deadline := time.Now().Add(15 * time.Second)
	for {
		left := append(w.living(A), w.living(B)...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.log.Lingering = append(w.log.Lingering, left...)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// living lists a side's TCP sockets that are not yet in TIME_WAIT and are not
// older than the run: only ports of this package.
func (w *worker) living(side Side) []string {
	w.in(side)
	var out []string
	for _, file := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 4 || !strings.Contains(f[1], ":") || f[3] == "06" {
				continue
			}
			if ours(f[1]) || ours(f[2]) {
				out = append(out, fmt.Sprintf("%s %s %s state %s", side, f[1], f[2], f[3]))
			}
		}
	}
	return out
}

// ours says whether an address of /proc/net/tcp has a port of this package.
func ours(addr string) bool {
	_, hex, _ := strings.Cut(addr, ":")
	var port int
	if _, err := fmt.Sscanf(hex, "%X", &port); err != nil {
		return false
	}
	return port >= portTCP4 && port <= portClosed
}

// finishLog adds what is known only at the end.
func (w *worker) finishLog() {
	for _, side := range []Side{A, B} {
		c := w.log.Counters[side]
		c.After = w.counters(side)
		w.log.Counters[side] = c
	}
	w.log.Interrupts = append(w.log.Interrupts, w.interrupts())
	w.log.End = now()
	w.log.Counts = map[string]int{}
	for _, s := range w.log.Sockets {
		for _, c := range s.Calls {
			result := c.Errno
			if result == "" {
				result = "ok"
			}
			w.log.Counts[c.Name+" "+result]++
		}
	}
}

// Write writes the log to a file, "-" being standard output.
func (l *Log) Write(path string) error {
	text, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return fmt.Errorf("writing the traffic log: %w", err)
	}
	text = append(text, '\n')
	if path == "-" {
		_, err = os.Stdout.Write(text)
	} else {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the traffic log: %w", err)
	}
	return nil
}
