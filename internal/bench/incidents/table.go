package incidents

import (
	"time"
)

// Incident is something that goes wrong on the recorded host or before it, or a healthy load.
type Incident struct {
	Name  string
	Cause string   // in words
	Want  []string // rules of which one must come first; none: no finding at all
	Says  string   // part of that finding's text
	Both  []string // rules that may come first, too, where the whole machine is recorded, the peer's end and the end of the program included
	path  path
	run   func(s *stage) error // while the host is recorded; it takes a few seconds
}

// lasting is how long flows of incidents run: long enough for a few timeouts.
const lasting = 2 * time.Second

// All are the incidents.
var All = []Incident{
	{Name: "refused", Cause: "nothing listens on the peer's port", Want: []string{"failed-connects"}, Says: "ECONNREFUSED", run: refused},
	{Name: "unreachable", Cause: "no route to the peer", Want: []string{"failed-connects"}, Says: "ENETUNREACH", run: unreachable},
	{Name: "prohibited", Cause: "a local rule forbids the way to the peer", Want: []string{"failed-connects"}, Says: "EACCES", run: prohibited},
	{Name: "connect-gives-up", Cause: "the peer is not there; the program closes after a second", Want: []string{"failed-connects", "slow-connects"}, path: path{treat: blackhole}, run: givesUp},
	{Name: "connect-hangs", Cause: "the peer is not there; the program waits", Want: []string{"slow-connects"}, Says: "no answer", Both: []string{"failed-connects"}, path: path{treat: blackhole}, run: hangs},
	{Name: "syn-loss", Cause: "30 % of SYNs are lost", Want: []string{"loss"}, path: path{treat: losing(30, true, packet.syn)}, run: manyConnects},
	{Name: "accept-queue", Cause: "a server does not accept, its queue overflows", Want: []string{"syn-backlog"}, Says: "accept queue was full", run: acceptQueue},
	{Name: "slow-accept", Cause: "a server accepts late", Want: []string{"accept-wait"}, run: slowAccept},
	{Name: "syn-flood", Cause: "a flood of SYNs fills the queue of handshakes", Want: []string{"syn-backlog"}, run: synFlood},
	{Name: "loss-5", Cause: "5 % of the packets of a long flow are lost", Want: []string{"loss"}, path: path{delay: 2 * time.Millisecond, treat: losing(5, true, packet.data)}, run: upload},
	{Name: "loss-15", Cause: "15 % of the packets of a long flow are lost", Want: []string{"loss"}, path: path{delay: 2 * time.Millisecond, treat: losing(15, true, packet.data)}, run: upload},
	{Name: "loss-short", Cause: "15 % of the packets of short connections are lost", Want: []string{"loss"}, path: path{treat: losing(15, true, packet.tcp)}, run: shortClient},
	{Name: "loss-short-server", Cause: "15 % of the packets of a server's short connections are lost", Want: []string{"loss"}, path: path{treat: losing(15, true, packet.tcp)}, run: shortServer},
	{Name: "loss-before-us", Cause: "5 % of the received packets are lost", Want: []string{"out-of-order"}, Both: []string{"loss"}, path: path{delay: 2 * time.Millisecond, treat: losing(5, false, packet.data)}, run: download},
	{Name: "reordering", Cause: "one received packet in ten is overtaken", Want: []string{"out-of-order"}, path: path{delay: time.Millisecond, treat: overtaking(10, 4*time.Millisecond)}, run: download},
	{Name: "blackhole", Cause: "the path dies in the middle of a flow", Want: []string{"retransmit-timeouts"}, path: path{treat: dying(200)}, run: uploadDies},
	{Name: "mtu", Cause: "the path drops packets above 1300 bytes", Want: []string{"retransmit-timeouts"}, Says: "retransmission timeouts", path: path{treat: narrow}, run: uploadBig},
	{Name: "bufferbloat", Cause: "a shaper holds packets in a long queue", Want: []string{"queue-bloat"}, run: shaped(400000)},
	{Name: "queue-drops", Cause: "a shaper of this host drops what does not fit into its queue", Want: []string{"drops"}, Says: "QDISC", run: shaped(20000)},
	{Name: "peer-reads-slowly", Cause: "the peer does not read", Want: []string{"zero-window"}, Says: "the peer", Both: []string{"zero-window", "receive-buffer"}, run: peerReadsSlowly},
	{Name: "we-read-slowly", Cause: "this host's program does not read", Want: []string{"zero-window", "receive-buffer"}, run: weReadSlowly},
	{Name: "udp-overflow", Cause: "datagrams find a receive buffer full", Want: []string{"receive-buffer"}, run: udpOverflow},
	{Name: "send-buffer", Cause: "a send buffer is too small for the round trip", Want: []string{"send-buffer"}, path: path{delay: 20 * time.Millisecond}, run: smallSendBuffer},
	{Name: "nagle", Cause: "small writes wait for delayed ACKs", Want: []string{"nagle-stall"}, run: nagle},
	{Name: "reset-unread", Cause: "a server closes with unread data", Want: []string{"resets"}, Says: "this host", run: resetUnread},
	{Name: "reset-linger", Cause: "a client closes with SO_LINGER 0", Want: []string{"resets"}, Says: "this host", run: resetLinger},
	{Name: "reset-by-peer", Cause: "the peer resets connections", Want: []string{"resets"}, Says: "the peer", Both: []string{"resets"}, run: resetByPeer},
	{Name: "reset-by-middle", Cause: "a box on the way forges resets", Want: []string{"resets"}, Says: "the peer", path: path{treat: forging}, run: resetByPeerQuiet},
	{Name: "no-listener", Cause: "peers ask for a port where nothing listens", Want: []string{"resets"}, Says: "nothing listens", Both: []string{"failed-connects"}, run: noListener},
	{Name: "keepalive", Cause: "peers vanish, keepalive gives up", Want: []string{"resets"}, Says: "keepalive", path: path{treat: dying(60)}, run: keepalive},
	{Name: "dns-nxdomain", Cause: "names do not exist", Want: []string{"failed-lookups"}, run: lookups(3, 0, false)},
	{Name: "dns-servfail", Cause: "the DNS server fails", Want: []string{"failed-lookups"}, run: lookups(2, 0, false)},
	{Name: "dns-timeout", Cause: "the DNS server does not answer", Want: []string{"failed-lookups"}, run: lookups(-1, 0, false)},
	{Name: "dns-slow", Cause: "the DNS server answers late", Want: []string{"slow-dns"}, run: lookups(0, 250*time.Millisecond, true)},
	{Name: "ports", Cause: "no local port is free", Want: []string{"failed-connects"}, Says: "no local port", run: ports},
	{Name: "close-wait", Cause: "a server never closes", Want: []string{"close-wait"}, run: closeWait},
	{Name: "think-time", Cause: "a server needs 800 ms for an answer", Want: []string{"slow-answers"}, run: thinkTime},
	{Name: "slow-upstream", Cause: "the peer needs 800 ms for an answer", Want: []string{"slow-answers"}, run: slowUpstream},
	{Name: "server-dies", Cause: "the peer's server dies while clients talk to it", Want: []string{"failed-connects"}, Says: "ECONNREFUSED", run: serverDies},
	{Name: "lock", Cause: "half of the requests wait for a lock of the server", Want: []string{"slow-answers"}, Says: "the application on this host", run: locked},
	{Name: "hiccup", Cause: "a server needs 350 ms for every seventh answer", Want: []string{"stalled-answers"}, Says: "the application on this host", run: hiccup},
	{Name: "mtu-in", Cause: "the path drops received packets above 1200 bytes", Want: []string{"out-of-order"}, Says: "10.77.0.2", Both: []string{"loss"}, path: path{treat: narrowIn}, run: bigAnswers},
	{Name: "dns-late", Cause: "the DNS server answers after the resolver has asked again", Want: []string{"slow-dns"}, run: lateResolver},
	{Name: "too-many-files", Cause: "a server has no descriptor left to accept with", Want: []string{"accept-wait", "syn-backlog"}, Says: "EMFILE", run: tooManyFiles},
}

// Healthy are loads that must give no finding.
var Healthy = []Incident{
	{Name: "keep-alive", Cause: "20 connections with many requests each", run: healthyKeepAlive},
	{Name: "short", Cause: "a connection for each request", run: healthyShort},
	{Name: "short-client", Cause: "a client with a connection for each request", run: healthyShortClient},
	{Name: "upload", Cause: "one long flow out", run: upload},
	{Name: "download", Cause: "one long flow in", run: download},
	{Name: "far", Cause: "requests to a peer 40 ms away", path: path{delay: 20 * time.Millisecond}, run: healthyFar},
	{Name: "lookups", Cause: "names that exist", run: lookups(0, 0, true)},
	{Name: "datagrams", Cause: "questions and answers by UDP", run: healthyUDP},
	{Name: "idle", Cause: "connections that mostly wait", run: healthyIdle},
	{Name: "crowd", Cause: "60 clients at once", run: healthyCrowd},
	{Name: "polls", Cause: "requests, a long poll, and clients that wait for news", run: healthyPolls},
	{Name: "shaped", Cause: "a transfer through a slower link before this host", run: healthyShaped},
	{Name: "queries", Cause: "many questions by UDP, each from a socket of its own", run: healthyQueries},
}
