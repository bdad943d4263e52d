package schema

// TCPSynackRetrans is a SYN-ACK that was sent again, because the last part of the
// handshake did not come or could not be taken. The socket of the row is the listener.
type TCPSynackRetrans struct {
	Header
	Tuple
	Cookie     int64  `col:"cookie" null:"zero"`
	Request    uint64 `col:"request" as:"addr" null:"zero" doc:"kernel address of the struct request_sock, the connection to be"`
	NumRetrans uint8  `col:"num_retrans" unit:"segments" doc:"how often the SYN-ACK had been sent again before"`
	State      uint8  `col:"state" as:"enum tcp_state"`
	Kind       uint8  `col:"retrans_kind" as:"enum retrans_kind"`
	_          [5]uint8
}

var tcpSynackRetrans = Event{ID: 80, Name: "tcp_synack_retrans", Row: TCPSynackRetrans{}, Rate: Low, Profile: Light,
	Stranger: true,
	Groups:   []string{"tcp"},
	Doc:      "TCP sent a SYN-ACK again",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "tcp_retransmit_synack", Args: 2, Prog: "tcp_synack_retrans_tp"}},
	}}
