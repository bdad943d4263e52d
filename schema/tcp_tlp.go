package schema

// TCPTLP is the timer of the tail loss probe, when its work is done.
type TCPTLP struct {
	Header
	Tuple
	Cookie     int64  `col:"cookie" null:"zero"`
	SndUna     uint32 `col:"snd_una"`
	SndNxt     uint32 `col:"snd_nxt"`
	SndCwnd    int32  `col:"snd_cwnd"`
	PacketsOut int32  `col:"packets_out"`
	Segs       int32  `col:"retrans_segs"`
	Sent       uint8  `col:"probe_sent" doc:"1 if a loss probe was sent, 0 if one was under way or there was nothing to send"`
	State      uint8  `col:"state" as:"enum tcp_state"`
	CaState    uint8  `col:"ca_state" as:"enum ca_state"`
	Kind       uint8  `col:"retrans_kind" as:"enum retrans_kind"`
}

var tcpTLP = Event{ID: 87, Name: "tcp_tlp", Row: TCPTLP{}, Rate: Low, Profile: Default,
	Groups: []string{"tcp"},
	Doc:    "TCP's timer for tail loss probes fired",
	Ladder: []Rung{
		{{Kind: Fentry, Target: "tcp_send_loss_probe", Args: 1, Prog: "tcp_tlp_fentry"},
			{Kind: Fexit, Target: "tcp_send_loss_probe", Args: 1, Prog: "tcp_tlp_fexit"}},
		{{Kind: Kprobe, Target: "tcp_send_loss_probe", Prog: "tcp_tlp_kprobe"},
			{Kind: Kretprobe, Target: "tcp_send_loss_probe", Prog: "tcp_tlp_kretprobe"}},
	}}
