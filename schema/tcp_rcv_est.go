package schema

// TCPRcvEst is one segment reaching an established TCP socket, with the state
// of the connection before the segment is processed.
type TCPRcvEst struct {
	Header
	Cookie       int64  `col:"cookie" null:"zero"`
	SndUna       uint32 `col:"snd_una" unit:"sequence" doc:"first sequence number not yet acknowledged"`
	SndNxt       uint32 `col:"snd_nxt" unit:"sequence" doc:"next sequence number to send"`
	SndWnd       uint32 `col:"snd_wnd" unit:"bytes" doc:"window the peer offers"`
	RcvWnd       uint32 `col:"rcv_wnd" unit:"bytes" doc:"window offered to the peer"`
	SndCwnd      int32  `col:"snd_cwnd" unit:"segments" doc:"congestion window"`
	SndSsthresh  int32  `col:"snd_ssthresh" unit:"segments" doc:"slow start threshold; 2147483647 while not set"`
	SkSndbuf     int32  `col:"sk_sndbuf" unit:"bytes" doc:"limit of the send buffer"`
	SkWmemQueued int32  `col:"sk_wmem_queued" unit:"bytes" doc:"memory held by the send queue"`
	SkRmemAlloc  int32  `col:"sk_rmem_alloc" null:"ones" unit:"bytes" doc:"memory held by the receive queue"`
	PacketsOut   int32  `col:"packets_out" unit:"segments" doc:"segments in flight, as the sender counts them"`
	SRTT         int32  `col:"srtt_us" null:"ones"`
	RTTMin       int32  `col:"rtt_min_us" null:"ones" unit:"us" doc:"least round trip time of the last minutes, as the kernel keeps it; NULL before the first"`
	Out          uint32 `col:"out_bytes" null:"ones"`
	In           uint32 `col:"in_bytes" null:"ones"`
	Unread       int32  `col:"unread_bytes" null:"ones"`
	Unsent       int32  `col:"unsent_bytes" null:"ones"`
	Payload      int32  `col:"payload_bytes" unit:"bytes" doc:"data that the segment carries"`
	Acked        int32  `col:"acked_bytes" unit:"bytes" doc:"its acknowledgement minus snd_una: what it acknowledges anew; below 0 for an old one"`
	SeqGap       int32  `col:"seq_gap_bytes" unit:"bytes" doc:"its first sequence number minus rcv_nxt: 0 in order, above 0 if data before it is missing, below 0 if it repeats data"`
	MSS          uint16 `col:"mss_bytes"`
	CaState      uint8  `col:"ca_state" as:"enum ca_state" doc:"state of congestion control"`
	_            [1]uint8
}

var tcpRcvEst = Event{ID: 11, Name: "tcp_rcv_est", Row: TCPRcvEst{}, Rate: Extreme, Profile: Default, Thin: ByConn,
	Groups: []string{"tcp"},
	Doc:    "a segment reached an established TCP socket",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "tcp_probe", Prog: "tcp_rcv_est_tp"}},
		{{Kind: Fentry, Target: "tcp_rcv_established", Prog: "tcp_rcv_est_fentry"}},
		{{Kind: Kprobe, Target: "tcp_rcv_established", Prog: "tcp_rcv_est_kprobe"}},
	}}
