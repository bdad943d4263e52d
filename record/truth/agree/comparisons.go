package agree

// Comparison is one tool beside the analysis that answers the same question.
type Comparison struct {
	Tool   string // as Debian names it
	Watch  string // command in the guest that runs it, or the map of the common bpftrace script
	Ours   string // arguments of netrec analyze
	Theirs []string
	Fields []string // columns of ours, in the order of Theirs
	Known  string   // why they may differ, in words that the table shows; "" where they must not
}

// Ports of the traffic, by which rows of other connections are left out.
const (
	firstPort = 18000
	lastPort  = 18999
)

// Comparisons of tools that print lines, by columns of both.
var Comparisons = []Comparison{
	{Tool: "tcplife (libbpf-tools)", Watch: "tcplife", Ours: "tcplife --compat=bcc",
		Theirs: []string{"LADDR", "LPORT", "RADDR", "RPORT", "TX_KB", "RX_KB"}, Fields: []string{"laddr", "lport", "raddr", "rport", "tx_kb", "rx_kb"}},
	{Tool: "tcpstates (libbpf-tools)", Watch: "tcpstates", Ours: "tcpstates --compat",
		Theirs: []string{"LPORT", "RPORT", "OLDSTATE", "NEWSTATE"}, Fields: []string{"lport", "rport", "old_state", "new_state"}},
	{Tool: "tcpconnect (libbpf-tools)", Watch: "tcpconnect", Ours: "tcpconnect --compat",
		Theirs: []string{"SADDR", "DADDR", "DPORT"}, Fields: []string{"saddr", "daddr", "dport"}},
	{Tool: "tcpconnlat (libbpf-tools)", Watch: "tcpconnlat", Ours: "tcpconnect",
		Theirs: []string{"DADDR", "DPORT"}, Fields: []string{"daddr", "dport"},
		Known: "it prints every attempt whose socket left SYN_SENT, also those that were refused"},
	{Tool: "solisten (libbpf-tools)", Watch: "solisten", Ours: "solisten", Theirs: []string{"PORT"}, Fields: []string{"port"}},
	{Tool: "bindsnoop (libbpf-tools)", Watch: "bindsnoop", Ours: "tcpbind", Theirs: []string{"PORT"}, Fields: []string{"port"}},
	{Tool: "gethostlatency (libbpf-tools)", Watch: "gethostlatency", Ours: "gethostlatency", Theirs: []string{"HOST"}, Fields: []string{"host"}},
}

// Maps of the common bpftrace script, beside the analyses of the same one-liners.
var Maps = []Comparison{
	{Tool: "bpftrace, connects by process", Watch: "@connects", Ours: "conncount --by comm --comm python3", Fields: []string{"comm"}},
	{Tool: "bpftrace, failed connects by errno", Watch: "@failed", Ours: "connfails --compat --by errno --comm python3", Fields: []string{"errno"}},
	{Tool: "bpftrace, TCP sends and receives", Watch: "@tcp", Ours: "tcpcalls --comm python3", Fields: []string{"func"}},
	{Tool: "bpftrace, UDP sends and receives", Watch: "@udp", Ours: "udpcalls --by func --comm python3", Fields: []string{"func"}},
	{Tool: "bpftrace, TCP send sizes", Watch: "@send_bytes", Ours: "tcpsendsize --compat --comm python3", Fields: []string{"low"}},
	{Tool: "bpftrace, retransmissions", Watch: "@retrans", Ours: "retranshosts --by probe", Fields: []string{"probe"}},
}
