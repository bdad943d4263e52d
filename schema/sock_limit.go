package schema

// SockRcvqueueFull is a packet that a socket's receive queue had no room for. The kernel
// tells it of ping sockets and, where two packets race, of raw ones, and by another
// tracepoint of UDP; over IPv6 only since 6.6. Others drop elsewhere, see skb_drop.
type SockRcvqueueFull struct {
	Header
	Tuple
	Cookie   int64  `col:"cookie" null:"zero"`
	Rmem     int32  `col:"sk_rmem_alloc" null:"ones"`
	Rcvbuf   int32  `col:"sk_rcvbuf" null:"ones"`
	Truesize uint32 `col:"truesize_bytes" null:"zero" unit:"bytes" doc:"memory that the packet takes, with its bookkeeping; NULL of UDP before 6.10, which does not tell the packet"`
	Type     uint16 `col:"sock_type" as:"enum sock_type"`
	Protocol uint16 `col:"protocol" as:"enum protocol"`
	Func     uint8  `col:"func" as:"enum func"`
	_        [7]uint8
}

var sockRcvqueueFull = Event{ID: 68, Name: "sock_rcvqueue_full", Row: SockRcvqueueFull{}, Rate: Medium, Profile: Light,
	Groups: []string{"sock"},
	Doc:    "a socket's receive queue had no room for a packet",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "sock_rcvqueue_full", Args: 2, Prog: "sock_rcvqueue_full_tp"},
			{Kind: RawTP, Target: "sock_rcvqueue_full", Args: 2, Prog: "sock_rcvqueue_full_tp_again", Again: true},
			{Kind: RawTP, Target: "udp_fail_queue_rcv_skb", Args: 3, Prog: "sock_rcvqueue_full_udp3"}},
		{{Kind: RawTP, Target: "sock_rcvqueue_full", Args: 2, Prog: "sock_rcvqueue_full_tp"},
			{Kind: RawTP, Target: "sock_rcvqueue_full", Args: 2, Prog: "sock_rcvqueue_full_tp_again", Again: true},
			{Kind: RawTP, Target: "udp_fail_queue_rcv_skb", Args: 2, Prog: "sock_rcvqueue_full_udp2", Optional: true}},
	}}

// SockExceedBufLimit is memory that a socket was refused because its protocol has
// reached a limit.
type SockExceedBufLimit struct {
	Header
	Tuple
	Cookie      int64  `col:"cookie" null:"zero"`
	Allocated   int64  `col:"mem_allocated_pages" unit:"pages" doc:"memory of all sockets of the protocol, with what was refused"`
	MemMin      int64  `col:"mem_min_pages" null:"ones" unit:"pages" doc:"the protocol's limit below which nothing is refused (tcp_mem, udp_mem)"`
	MemPressure int64  `col:"mem_pressure_pages" null:"ones" unit:"pages" doc:"the protocol's limit from which on it saves memory"`
	MemMax      int64  `col:"mem_max_pages" null:"ones" unit:"pages" doc:"the protocol's limit for all its sockets"`
	Rmem        int32  `col:"sk_rmem_alloc" null:"ones"`
	Rcvbuf      int32  `col:"sk_rcvbuf" null:"ones"`
	Wmem        int32  `col:"sk_wmem_alloc" unit:"bytes" doc:"memory of packets sent and not yet freed"`
	WmemQueued  int32  `col:"sk_wmem_queued"`
	Sndbuf      int32  `col:"sk_sndbuf"`
	Protocol    uint16 `col:"protocol" as:"enum protocol"`
	Dir         uint8  `col:"dir" as:"enum dir"`
	_           [1]uint8
	Prot        [16]byte `col:"prot_name" as:"str"`
}

var sockExceedBufLimit = Event{ID: 69, Name: "sock_exceed_buf_limit", Row: SockExceedBufLimit{}, Rate: Medium, Profile: Light,
	Groups: []string{"sock"},
	Doc:    "a socket was refused memory because its protocol has reached a limit",
	Ladder: []Rung{
		{{Kind: RawTP, Target: "sock_exceed_buf_limit", Args: 4, Prog: "sock_exceed_buf_limit_tp"},
			{Kind: RawTP, Target: "sock_exceed_buf_limit", Args: 4, Prog: "sock_exceed_buf_limit_tp_again", Again: true}},
	}}
