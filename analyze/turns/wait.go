package turns

// Wait is what a connection waits for at a moment, seen from one end.
type Wait uint8

// Waits, in the order in which they are shown.
const (
	Connecting    Wait = iota // the handshake is under way
	AcceptQueue               // the connection is there, and no process has taken it
	AppThinking               // this application has read everything and owes bytes
	AppNotReading             // bytes have come that this application has not read
	HeldSndbuf                // the send buffer is full and all of it is in flight
	HeldNagle                 // less than a segment waits for an acknowledgement: Nagle, or a cork
	HeldCwnd                  // the congestion window is full
	HeldPacing                // written and not sent, for none of the reasons above: pacing, queueing discipline
	PeerWindow                // the peer's window is full
	InFlight                  // sent and not acknowledged
	Recovery                  // the same, after a loss
	PeerThinking              // everything is acknowledged, and the peer owes bytes
	Idle                      // nobody owes anything
	Waits                     // how many there are
)

var names = [Waits]string{"connecting", "accept queue", "app thinking", "app not reading", "send buffer", "nagle", "cwnd", "pacing",
	"peer window", "in flight", "recovery", "peer thinking", "idle"}

func (w Wait) String() string { return names[w] }

// Split is nanoseconds by what they were spent on.
type Split [Waits]int64

// Total is the sum of all.
func (s *Split) Total() int64 {
	var sum int64
	for _, ns := range s {
		sum += ns
	}
	return sum
}

// Add adds another split.
func (s *Split) Add(o *Split) {
	for w, ns := range o {
		s[w] += ns
	}
}

func (s *Split) less(o *Split) Split {
	d := *s
	for w, ns := range o {
		d[w] -= ns
	}
	return d
}

// Most is what took longest.
func (s *Split) Most() Wait {
	most := Wait(0)
	for w := range Waits {
		if s[w] > s[most] {
			most = w
		}
	}
	return most
}

// Turn is a question and its answer. At the end that asked it lasts from the first byte written until the
// last byte of the answer is read; at the other one from the first byte's arrival until the last
// byte of the answer is sent, or acknowledged if it had to be retransmitted.
type Turn struct {
	Start, End int64 // ns
	FirstByte  int64 // when the answer began; 0 if it did not
	Asked      int64 // bytes
	Answered   int64 // bytes
	Split      Split // of End - Start
	Estimated  int64 // ns of the split that the least round trip decided
	Overlap    bool  // bytes flowed both ways at once, so that its length is not that of one question
	Unfinished bool  // the connection or the recording ended before the answer did
}
