package schema

// SockError is an error that the kernel reports to the owner of an IP socket: its next call
// returns it, and poll says POLLERR. A socket that resets its connection itself, at a close
// that does not linger, gets one too and has forgotten its peer. Kernels before 5.14 tell nobody.
type SockError struct {
	Header
	Tuple
	Cookie   int64  `col:"cookie" null:"zero"`
	SkErr    int32  `col:"sk_err"`
	Type     uint16 `col:"sock_type" as:"enum sock_type"`
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	State    uint8  `col:"state" as:"enum tcp_state"`
	_        [7]uint8
}

var sockError = Event{ID: 72, Name: "sock_error", Row: SockError{}, Rate: Low, Profile: Light,
	Groups: []string{"sock"},
	Doc:    "a socket got an error for its owner: refused, reset, timed out, unreachable",
	Unseen: "an error that the owner takes on another CPU before the probe reads it",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "inet_sk_error_report", Args: 1, Prog: "sock_error_tp"},
			{Kind: RawTP, Target: "inet_sk_error_report", Args: 1, Prog: "sock_error_tp_again", Again: true}},
	}}
