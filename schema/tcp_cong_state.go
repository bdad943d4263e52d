package schema

// TCPCongState is a change of the state of congestion control. Kernels before 6.0
// make it in many places and tell nobody.
type TCPCongState struct {
	Header
	Tuple
	Cookie      int64  `col:"cookie" null:"zero"`
	SndUna      uint32 `col:"snd_una"`
	SndNxt      uint32 `col:"snd_nxt"`
	SndCwnd     int32  `col:"snd_cwnd"`
	SndSsthresh int32  `col:"snd_ssthresh"`
	PacketsOut  int32  `col:"packets_out"`
	RetransOut  int32  `col:"retrans_out" unit:"segments" doc:"retransmitted segments in flight"`
	LostOut     int32  `col:"lost_out" unit:"segments" doc:"segments taken for lost"`
	SackedOut   int32  `col:"sacked_out" unit:"segments" doc:"segments acknowledged out of order"`
	OldCaState  uint8  `col:"old_ca_state" as:"enum ca_state" doc:"state of congestion control before the change"`
	CaState     uint8  `col:"ca_state" as:"enum ca_state"`
	_           [6]uint8
}

var tcpCongState = Event{ID: 82, Name: "tcp_cong_state", Row: TCPCongState{}, Rate: Medium, Profile: Default,
	Groups: []string{"tcp"},
	Doc:    "congestion control of a TCP socket set its state",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "tcp_cong_state_set", Args: 2, Prog: "tcp_cong_state_tp"},
			{Kind: RawTP, Target: "tcp_cong_state_set", Args: 2, Prog: "tcp_cong_state_tp_again", Again: true}},
	}}
