package schema

// A field of conversion pollset is words of 64 bits. The first holds the form in its low
// half and a count in its high half; the others hold what the kernel and the caller share
// in memory, as far as it fits, and zeros.
const (
	PollNone    = iota
	PollWanted  // struct pollfd, the events asked for; count: all descriptors of the call
	PollReady   // struct pollfd, the events that came; count: ready descriptors
	PollBits    // three bitmaps (in, out, except) of PollWords words each; count: nfds of select
	PollBitsOut // the same after the call
	PollEpoll   // struct epoll_event, packed; count: events of the call
)

// How much a record has: descriptors of poll or events of epoll, and words of each of
// select's bitmaps.
const (
	PollFDs   = 16
	PollWords = 4
)

var (
	_ = enum(Enum{Name: "poll_form", Probe: true, Values: []EnumValue{{PollWanted, "wanted"}, {PollReady, "ready"},
		{PollBits, "bits"}, {PollBitsOut, "bits_out"}, {PollEpoll, "epoll"}}})
	_ = enum(Enum{Name: "poll_limit", Probe: true, Values: []EnumValue{{PollFDs, "fds"}, {PollWords, "words"}}})
)
