package schema

// TCPWriteXmit is one attempt to send queued data, seen when it returns.
type TCPWriteXmit struct {
	Header
	Cookie       int64  `col:"cookie" null:"zero"`
	SndUna       uint32 `col:"snd_una"`
	SndNxt       uint32 `col:"snd_nxt"`
	WriteSeq     uint32 `col:"write_seq" unit:"sequence" doc:"end of the data the application has written"`
	SndWnd       uint32 `col:"snd_wnd"`
	SndCwnd      int32  `col:"snd_cwnd"`
	PacketsOut   int32  `col:"packets_out"`
	MSS          int32  `col:"mss_bytes" unit:"bytes" doc:"segment size in use"`
	SkWmemQueued int32  `col:"sk_wmem_queued"`
	Ret          int64  `col:"ret" doc:"what the call returned; negative errno on failure"`
	Nonagle      int32  `col:"nonagle" doc:"Nagle flags of the call: 1 off, 2 cork, 4 push"`
	PushOne      int32  `col:"push_one" doc:"argument push_one of tcp_write_xmit"`
}

var tcpWriteXmit = Event{ID: 13, Name: "tcp_write_xmit", Row: TCPWriteXmit{}, Rate: Extreme, Profile: Default, Thin: ByCall,
	Groups: []string{"tcp"},
	Doc:    "TCP tried to send queued data",
	Ladder: []Rung{
		{{Kind: Fexit, Target: "tcp_write_xmit", Args: 5, Prog: "tcp_write_xmit_fexit"}},
		{{Kind: Kprobe, Target: "tcp_write_xmit", Prog: "tcp_write_xmit_kprobe"},
			{Kind: Kretprobe, Target: "tcp_write_xmit", Prog: "tcp_write_xmit_kretprobe"}},
	}}
