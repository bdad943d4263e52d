package schema

// DNSCall is one name lookup through the C library, when it returns. Where one function
// is made of others, as gethostbyname of gethostbyname_r, it is the outermost.
type DNSCall struct {
	Header
	Dur     int64     `col:"dur_ns"`
	Ret     int64     `col:"ret"`
	Host    [256]byte `col:"host" as:"str" doc:"name looked up, copied when the call began; cut after 255 bytes, more than a name may have"`
	HostEnd [256]byte `col:"host_end" as:"str" doc:"what was in the name's place when the call returned; NULL where nothing can be read there any more"`
	Lib     uint32    `col:"lib" as:"ref" doc:"library that was called, as its process names it; NULL before 5.15 for one that came during the recording"`
	Family  uint16    `col:"family" as:"enum family" null:"ones"`
	Func    uint8     `col:"func" as:"enum func"`
	Found   uint8     `col:"found" null:"ones" doc:"1 if the lookup gave a result, 0 if not; the _r forms return 0 also without one"`
	HErrno  uint8     `col:"h_errno" as:"enum h_errno" null:"zero" doc:"why gethostbyname or one of its kin found nothing, as their _r form said; NULL for getaddrinfo"`
	_       [7]uint8
}

var dnsCall = Event{ID: 50, Name: "dns_call", Row: DNSCall{}, Rate: Low, Profile: Light, Tasks: true,
	Groups: []string{"dns"},
	Doc:    "a name lookup in the C library returned",
	Unseen: "resolvers that programs bring themselves (Go's, DNS over HTTPS), static and 32-bit programs",
	// The end of a call is hooked first: a call of which only the beginning was seen would
	// be taken for one under way.
	Ladder: []Rung{{
		{Kind: Uretprobe, Target: "libc:getaddrinfo", Prog: "dns_call_getaddrinfo_ret"},
		{Kind: Uprobe, Target: "libc:getaddrinfo", Prog: "dns_call_getaddrinfo"},
		{Kind: Uretprobe, Target: "libc:gethostbyname", Prog: "dns_call_gethostbyname_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname", Prog: "dns_call_gethostbyname", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname2", Prog: "dns_call_gethostbyname2_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname2", Prog: "dns_call_gethostbyname2", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname_r", Prog: "dns_call_gethostbyname_r_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname_r", Prog: "dns_call_gethostbyname_r", Optional: true},
		{Kind: Uretprobe, Target: "libc:gethostbyname2_r", Prog: "dns_call_gethostbyname2_r_ret", Optional: true},
		{Kind: Uprobe, Target: "libc:gethostbyname2_r", Prog: "dns_call_gethostbyname2_r", Optional: true},
	}}}
