package findings

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// Level is how bad a finding is. The worst is the greatest.
type Level uint8

// Levels.
const (
	Note Level = iota // worth knowing
	Slow              // something waited
	Bad               // something was lost, refused or failed
)

func (l Level) String() string { return [...]string{"note", "slow", "bad"}[l] }

// Rule is one thing that may be wrong.
type Rule struct {
	Name    string
	About   string   // what the threshold counts or measures, as a noun
	Default float64  // threshold, in Unit
	Unit    Unit     // of the threshold
	Any     []string // events of which one suffices to judge; none if the metadata does

	// Counters are protocol counters that suffice where none of the events was recorded.
	Counters []string

	// Explains are rules that see consequences of what this one finds. Their findings about
	// the same peer or service are part of this rule's.
	Explains []string

	// New starts to watch a recording. limit is the threshold in use. The fold it returns
	// is called after the last row, and adds to the shelf what it found.
	New func(in *engine.Input, limit float64, found *Shelf) (judge func())
}

// Rules are all rules, by name.
var Rules = []*Rule{&acceptWait, &closeWait, &drops, &failedConnects, &failedLookups, &loss, &lostEvents, &nagleStall, &outOfOrder, &queueBloat, &receiveBuffer, &resets,
	&retransmitBurst, &retransmitTimeouts, &sendBuffer, &slowAnswers, &slowConnects, &slowDNS, &stalledAnswers, &synBacklog, &zeroWindow}

// Finding is one thing that looks wrong.
type Finding struct {
	Rule      *Rule
	Threshold string // in use, as --threshold takes it
	Level     Level
	Over      float64 // how many times the threshold
	What      string
	Evidence  string
	Next      string     // arguments of analyze that show more, after the file
	Sock      agg.Socket // the socket it is about; its address is 0 if it is about none
	At        int64      // ts_ns where it began or was worst, 0 if that is not known
	About     string     // findings of a rule about the same are one; What if it is empty
	Peer      string     // remote address it is about, "" if it is about several
	Port      int64      // local port of the service it is about, 0 if it is about none
	Of        int64      // how many it stands for
	Each      string     // what these are; sockets if it is empty
	Own       bool       // no other finding explains it
	Far       bool       // the peer's program is to blame
	Explains  []string   // rules that see its consequences, beside those that its rule names
}

// of sets what a finding is about from its socket.
func (f Finding) of(s *agg.Socket) Finding {
	f.Sock, f.About = *s, service(s)
	if f.Peer = s.Raddr; s.Serves() {
		f.Port = s.Lport
	}
	return f
}
