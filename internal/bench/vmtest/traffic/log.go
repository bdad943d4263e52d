package traffic

import (
	"encoding/json"
	"fmt"
	"os"
)

// Log is everything that a run did.
type Log struct {
	Seed   uint64 `json:"seed"`
	Kernel string `json:"kernel"`
	// PID of the process whose one thread TID made all calls but the name
	// server's.
	PID int `json:"pid"`
	TID int `json:"tid"`
	// Begin and End are CLOCK_MONOTONIC, ns, as all times here.
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
	// Namespaces are the two ends of the link; both are the same one when there
	// is only loopback.
	Namespaces map[Side]Namespace `json:"namespaces"`
	// Netem: the link has delay and, for the loss kind, loss.
	Netem bool `json:"netem"`
	// Machine: settings of the whole machine were changed, for the kind that needs it.
	Machine bool `json:"machine,omitempty"`
	// Degraded says what this machine did not allow, and what that cost.
	Degraded []string `json:"degraded,omitempty"`
	// Wanted are the counts asked for, by name.
	Wanted map[string]int `json:"wanted"`
	// Phases are the kinds in the order they ran.
	Phases []Phase `json:"phases"`
	// Sockets in the order they came to be.
	Sockets []*Socket `json:"sockets"`
	// Lookups are the name lookups made by other programs.
	Lookups []Lookup `json:"lookups,omitempty"`
	// Counts of calls by name and result: "connect ok", "recvfrom EAGAIN".
	Counts map[string]int `json:"counts"`
	// Counters are the kernel's, over the whole run.
	Counters map[Side]Counters `json:"counters"`
	// Passed are descriptors sent and received, Execs programs begun with sockets open,
	// FileIO reads and writes of what is no socket.
	Passed []Passed `json:"passed,omitempty"`
	Execs  []Exec   `json:"execs,omitempty"`
	FileIO []FileIO `json:"file_io,omitempty"`
	// Scans are those of Wi-Fi radios.
	Scans []Scan `json:"scans,omitempty"`
	// Queues are what queueing disciplines counted.
	Queues []Queue `json:"queues,omitempty"`
	// Tunnels are those that datagrams went through.
	Tunnels []Tunnel `json:"tunnels,omitempty"`
	// Interrupts are the machine's, read at the start and at the end.
	Interrupts []Interrupts `json:"interrupts,omitempty"`
	// Lingering are TCP sockets that had not ended when the run did.
	Lingering []string `json:"lingering,omitempty"`
}

// Side is an end of the link: A is the client's, B the server's.
type Side string

// The two sides.
const (
	A Side = "a"
	B Side = "b"
)

// Namespace is where a side lives.
type Namespace struct {
	Name  string `json:"name"`
	Inode uint64 `json:"inode"`
	IPv4  string `json:"ipv4"`
	IPv6  string `json:"ipv6"`
}

// Phase is the time of one kind, and what the kernel's counters say of it:
// only those that changed.
type Phase struct {
	Kind  string                  `json:"kind"`
	Begin int64                   `json:"begin"`
	End   int64                   `json:"end"`
	Delta map[Side]map[string]int `json:"delta"`
}

// Socket is one socket. A socket that was made by accept has its listener's
// index in From, a connecting one -1.
type Socket struct {
	Index int    `json:"index"`
	Kind  string `json:"kind"`
	// Role is listener, client, server, or what else the kind calls it.
	Role   string `json:"role"`
	Side   Side   `json:"side"`
	FD     int    `json:"fd"`
	TID    int    `json:"tid"`
	Inode  uint64 `json:"inode"`
	Family string `json:"family"`
	Type   string `json:"type"`
	Local  string `json:"local,omitempty"`
	Remote string `json:"remote,omitempty"`
	From   int    `json:"from"`
	// Sent and Received are bytes of successful calls; peeking does not count.
	Sent     int `json:"sent"`
	Received int `json:"received"`
	// Drops are the packets for which the kernel says the queue was full, where a
	// scenario fills one on purpose.
	Drops int    `json:"drops,omitempty"`
	Calls []Call `json:"calls"`
}

// Call is one system call on a socket.
type Call struct {
	// Name is the system call's, not the library's: send(2) is sendto.
	Name string `json:"name"`
	FD   int    `json:"fd"`
	// Asked is the buffer's length in bytes where there is one, and of listen the backlog.
	Asked int `json:"asked,omitempty"`
	// Return is the result, -1 with Errno for an error.
	Return int    `json:"return"`
	Errno  string `json:"errno,omitempty"`
	Flags  int    `json:"flags,omitempty"`
	// Messages are the bytes of each message of sendmmsg and recvmmsg.
	Messages []int `json:"messages,omitempty"`
	// Tries is how often the kernel's send or receive ran inside one call, where
	// it is not once (or once a message): a recvmmsg that runs dry tries once more.
	Tries int `json:"tries,omitempty"`
	// Watched and Ready are the descriptors and events of a call that waits, in the
	// form 5:IN|OUT,7:IN; Timeout is how long it would, in nanoseconds.
	Watched string `json:"watched,omitempty"`
	Ready   string `json:"ready,omitempty"`
	Timeout int64  `json:"timeout,omitempty"`
	Peer    string `json:"peer,omitempty"`
	// Opts are the options of the socket of a bind, and Device the index of the network device
	// it is bound to, as the kernel gives them back.
	Opts   string `json:"opts,omitempty"`
	Device int    `json:"device,omitempty"`
	// UID is who made the call.
	UID   int   `json:"uid,omitempty"`
	Enter int64 `json:"enter"`
	Exit  int64 `json:"exit"`
}

// Bytes is how many bytes the call moved.
func (c *Call) Bytes() int {
	if c.Messages != nil {
		n := 0
		for _, m := range c.Messages {
			n += m
		}
		return n
	}
	return max(0, c.Return)
}

// Lookup is one program that looked a name up through libc.
type Lookup struct {
	Command []string `json:"command"`
	Name    string   `json:"name"`
	PID     int      `json:"pid"`
	// Calls are how often the program calls which libc function.
	Calls map[string]int `json:"calls"`
	// Found: the program left with 0.
	Found bool `json:"found"`
	// DelayMS is how long the name server waited before each answer.
	DelayMS int   `json:"delay_ms"`
	Begin   int64 `json:"begin"`
	End     int64 `json:"end"`
}

// Read reads a log that a run wrote.
func Read(path string) (*Log, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a traffic log: %w", err)
	}
	var l Log
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("reading the traffic log %s: %w", path, err)
	}
	return &l, nil
}

// Select gives the sockets of a kind and role; an empty string is any.
func (l *Log) Select(kind, role string) []*Socket {
	var out []*Socket
	for _, s := range l.Sockets {
		if (kind == "" || s.Kind == kind) && (role == "" || s.Role == role) {
			out = append(out, s)
		}
	}
	return out
}

// Count counts the calls of a name; errno "" is success, "*" any result.
func (l *Log) Count(name, errno string) int {
	n := 0
	for _, s := range l.Sockets {
		for i := range s.Calls {
			if c := &s.Calls[i]; c.Name == name && (errno == "*" || c.Errno == errno) {
				n++
			}
		}
	}
	return n
}
