package schema

// TCPSynArrive is a SYN that reached a listener, before the listener looks whether its
// queues have room. The addresses are the packet's, seen from here.
type TCPSynArrive struct {
	Header
	Tuple
	Cookie     int64  `col:"cookie" null:"zero"`
	AckBacklog uint32 `col:"sk_ack_backlog" unit:"connections" doc:"connections in the listener's accept queue at that moment; full when more than sk_max_ack_backlog"`
	MaxBacklog uint32 `col:"sk_max_ack_backlog" unit:"connections" doc:"length of the accept queue that the socket has"`
	ReqQueue   int32  `col:"req_queue_len" unit:"connections" doc:"handshakes of the listener under way"`
	_          [4]uint8
}

// TCPSynRecv is the end of a handshake, when the listener makes the connection's socket.
// The socket of the row is the new one, 0 where there was no room for it.
type TCPSynRecv struct {
	Header
	Tuple
	Listener   uint64 `col:"listener" as:"addr" null:"zero"`
	AckBacklog uint32 `col:"sk_ack_backlog"`
	MaxBacklog uint32 `col:"sk_max_ack_backlog"`
	Func       uint8  `col:"func" as:"enum func"`
	_          [7]uint8
}

// TCPAcceptFn is a connection leaving the accept queue, or a try to take one. The
// socket of the row is the connection's, 0 on failure.
type TCPAcceptFn struct {
	Header
	Tuple
	Cookie          int64  `col:"cookie" null:"zero"`
	Listener        uint64 `col:"listener" as:"addr" null:"zero"`
	Ret             int64  `col:"ret"`
	AckBacklog      uint32 `col:"sk_ack_backlog"`
	MaxBacklog      uint32 `col:"sk_max_ack_backlog"`
	ChildBacklog    uint32 `col:"child_ack_backlog" null:"ones" unit:"connections" doc:"the accept queue's length as the connection's socket has it, copied when the handshake ended"`
	ChildMaxBacklog uint32 `col:"child_max_ack_backlog" null:"ones" unit:"connections" doc:"its limit, copied likewise"`
}

var (
	tcpSynArrive = Event{ID: 83, Name: "tcp_syn_arrive", Row: TCPSynArrive{}, Rate: Low, Profile: Default,
		Stranger: true,
		Groups:   []string{"tcp"},
		Doc:      "a SYN reached a listening socket",
		Ladder: []Rung{
			{{Kind: Fentry, Target: "tcp_conn_request", Args: 4, Prog: "tcp_syn_arrive_fentry"}},
			{{Kind: Kprobe, Target: "tcp_conn_request", Prog: "tcp_syn_arrive_kprobe"}},
		}}
	tcpSynRecv = Event{ID: 84, Name: "tcp_syn_recv", Row: TCPSynRecv{}, Rate: Low, Profile: Default,
		Groups: []string{"tcp"},
		Doc:    "a handshake ended and a listener made the connection's socket",
		Ladder: []Rung{
			{{Kind: Fexit, Target: "tcp_v4_syn_recv_sock", Args: 6, Prog: "tcp_syn_recv4_fexit6"},
				{Kind: Fexit, Target: "tcp_v6_syn_recv_sock", Args: 6, Prog: "tcp_syn_recv6_fexit6", Optional: true}},
			{{Kind: Fexit, Target: "tcp_v4_syn_recv_sock", Args: 7, Prog: "tcp_syn_recv4_fexit7"},
				{Kind: Fexit, Target: "tcp_v6_syn_recv_sock", Args: 7, Prog: "tcp_syn_recv6_fexit7", Optional: true}},
			{{Kind: Fexit, Target: "tcp_create_openreq_child", Args: 3, Prog: "tcp_syn_recv_child_fexit"},
				{Kind: Kprobe, Target: "tcp_v4_syn_recv_sock", Prog: "tcp_syn_recv4_kprobe", Optional: true},
				{Kind: Kretprobe, Target: "tcp_v4_syn_recv_sock", Prog: "tcp_syn_recv4_failed", Optional: true},
				{Kind: Kprobe, Target: "tcp_v6_syn_recv_sock", Prog: "tcp_syn_recv6_kprobe", Optional: true},
				{Kind: Kretprobe, Target: "tcp_v6_syn_recv_sock", Prog: "tcp_syn_recv6_failed", Optional: true}},
			{{Kind: Kprobe, Target: "tcp_v4_syn_recv_sock", Prog: "tcp_syn_recv4_kprobe"},
				{Kind: Kretprobe, Target: "tcp_v4_syn_recv_sock", Prog: "tcp_syn_recv4_kretprobe"},
				{Kind: Kprobe, Target: "tcp_v6_syn_recv_sock", Prog: "tcp_syn_recv6_kprobe", Optional: true},
				{Kind: Kretprobe, Target: "tcp_v6_syn_recv_sock", Prog: "tcp_syn_recv6_kretprobe", Optional: true}},
		}}
	tcpAcceptFn = Event{ID: 85, Name: "tcp_accept_fn", Row: TCPAcceptFn{}, Rate: Low, Profile: Default,
		Says: SaysAccept, InCall: true,
		Groups: []string{"tcp"},
		Doc:    "a connection was taken from a listener's accept queue",
		Ladder: []Rung{
			{{Kind: Fexit, Target: "inet_csk_accept", Args: 2, Prog: "tcp_accept_fn_fexit2"}},
			{{Kind: Fexit, Target: "inet_csk_accept", Args: 4, Prog: "tcp_accept_fn_fexit4"}},
			{{Kind: Kprobe, Target: "inet_csk_accept", Prog: "tcp_accept_fn_kprobe"},
				{Kind: Kretprobe, Target: "inet_csk_accept", Prog: "tcp_accept_fn_kretprobe"}},
		}}
)
