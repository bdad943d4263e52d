package schema

// TCPConnectFn is the kernel's start of a TCP connection, when the function returns:
// the SYN is then on its way. A connect that IPv6 hands on to IPv4 is one row.
type TCPConnectFn struct {
	Header
	Tuple
	Cookie int64  `col:"cookie" null:"zero"`
	Ret    int64  `col:"ret"`
	UID    uint32 `col:"uid"`
	Func   uint8  `col:"func" as:"enum func"`
	_      [3]uint8
}

var tcpConnectFn = Event{ID: 86, Name: "tcp_connect_fn", Row: TCPConnectFn{}, Rate: Low, Profile: Default,
	Says: SaysConnect, InCall: true,
	Groups: []string{"tcp"},
	Doc:    "TCP began to connect a socket",
	Ladder: []Rung{
		{{Kind: Fexit, Target: "tcp_v4_connect", Args: 3, Prog: "tcp_connect_fn4_fexit"},
			{Kind: Fexit, Target: "tcp_v6_connect", Args: 3, Prog: "tcp_connect_fn6_fexit", Optional: true}},
		{{Kind: Kprobe, Target: "tcp_v4_connect", Prog: "tcp_connect_fn4_kprobe"},
			{Kind: Kretprobe, Target: "tcp_v4_connect", Prog: "tcp_connect_fn4_kretprobe"},
			{Kind: Kprobe, Target: "tcp_v6_connect", Prog: "tcp_connect_fn6_kprobe", Optional: true},
			{Kind: Kretprobe, Target: "tcp_v6_connect", Prog: "tcp_connect_fn6_kretprobe", Optional: true}},
	}}
