package synth

// counted are the places that the recorder counts, as references to their names.
var (
	countedFuncs = []string{"tcp_sendmsg", "tcp_recvmsg", "tcp_rcv_established", "udp_sendmsg", "udpv6_sendmsg", "ieee80211_rx_list"}
	countedTPs   = []string{"net:netif_receive_skb", "net:net_dev_queue", "iwlwifi:iwlwifi_dev_tx"}
)

// References to names: libraries below, then a fact about the recording and its name,
// functions, tracepoints.
const (
	refKey   = 98
	refFact  = 99
	refFuncs = 100
	refTPs   = 200
)

// count is a second of the recorder's counters, on two CPUs.
func (h *host) count() {
	h.counter("func_count", refFuncs, len(countedFuncs))
	h.counter("tp_count", refTPs, len(countedTPs))
	h.now += 1000
}

func (h *host) counter(event string, first, n int) {
	for i := range n {
		for cpu := range 2 {
			at, hits := place{first + i, cpu}, 1+h.wait(5000)
			h.totals[at] += hits
			h.row(event, at.of(h)).num("cpu", int64(cpu)).num("count", hits).num("count_total", h.totals[at]).num("window_ns", 1e9).num("symbol", int64(at.ref))
		}
	}
}

// place is a counter of a CPU.
type place struct{ ref, cpu int }

func (place) of(h *host) at { return at{ts: h.now, who: process{900, "netrec"}} }
