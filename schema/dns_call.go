package schema

// DNSCall is one name lookup through the C library, when it returns.
type DNSCall struct {
	Header
	Dur  int64     `col:"dur_ns"`
	Ret  int64     `col:"ret"`
	Host [128]byte `col:"host" as:"str" doc:"name looked up, copied when the call began"`
	Lib  uint32    `col:"lib" as:"ref" doc:"library that was called"`
	Func uint8     `col:"func" as:"enum func"`
	_    [3]uint8
}

var dnsCall = Event{ID: 50, Name: "dns_call", Row: DNSCall{}, Rate: Low, Profile: Light,
	Groups: []string{"dns"},
	Doc:    "a name lookup in the C library returned",
	Ladder: []Rung{{
		{Kind: Uprobe, Target: "libc:getaddrinfo", Prog: "dns_call_getaddrinfo"},
		{Kind: Uretprobe, Target: "libc:getaddrinfo", Prog: "dns_call_getaddrinfo_ret"},
		{Kind: Uprobe, Target: "libc:gethostbyname", Prog: "dns_call_gethostbyname", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname", Prog: "dns_call_gethostbyname_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname2", Prog: "dns_call_gethostbyname2", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname2", Prog: "dns_call_gethostbyname2_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname_r", Prog: "dns_call_gethostbyname_r", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname_r", Prog: "dns_call_gethostbyname_r_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname2_r", Prog: "dns_call_gethostbyname2_r", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname2_r", Prog: "dns_call_gethostbyname2_r_ret", Optional: true},
	}}}
