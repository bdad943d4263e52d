package agree

import "strings"

// mine is the condition that leaves the traffic's own threads. What happens in interrupts
// needs none, as nothing else uses the network. The kernel keeps an event from a kprobe or
// tracepoint that interrupts another one on the same CPU, so probes of busy functions are
// trampolines (kfunc), which do not hinder others.
const mine = `/comm == "agree"/`

var stateNames = map[string]string{"1": "ESTABLISHED", "2": "SYN_SENT", "3": "SYN_RECV", "4": "FIN_WAIT1", "5": "FIN_WAIT2", "6": "TIME_WAIT",
	"7": "CLOSE", "8": "CLOSE_WAIT", "9": "LAST_ACK", "10": "LISTEN", "11": "CLOSING", "12": "NEW_SYN_RECV"}

// OneLiners run in bpftrace, each into the map of its name, written from the rules of the
// catalogue beside the analyses of the same question. A function has one block in a script:
// of two, Debian's bpftrace runs the second twice.
var OneLiners = []Comparison{
	{Tool: "accept(2) by process", Map: "accepts", Script: `tracepoint:syscalls:sys_enter_accept,tracepoint:syscalls:sys_enter_accept4 ` + mine + ` { @accepts[comm] = count(); }`,
		Ours: "acceptcount --by comm --comm agree", Fields: []string{"comm"}},
	{Tool: "connect(2) by process", Map: "connects", Script: `tracepoint:syscalls:sys_enter_connect ` + mine + ` { @connects[comm] = count(); }`,
		Ours: "conncount --by comm --comm agree", Fields: []string{"comm"}},
	{Tool: "connect(2) by family", Map: "families", Script: `tracepoint:syscalls:sys_enter_connect ` + mine + ` { @families[((struct sockaddr *)args->uservaddr)->sa_family] = count(); }`,
		Ours: "sofamily --by family --comm agree", Table: "connect", Fields: []string{"family"}},
	{Tool: "connect(2) by protocol", Map: "protocols", Script: `kprobe:security_socket_connect ` + mine + ` { @protocols[((struct socket *)arg0)->sk->sk_protocol] = count(); }`,
		Ours: "soprotocol --comm agree", Table: "connect", Fields: []string{"protocol"}},
	{Tool: "failed connect(2) by errno", Map: "failed", Script: `tracepoint:syscalls:sys_exit_connect /comm == "agree" && args->ret < 0/ { @failed[-args->ret] = count(); }`,
		Ours: "connfails --compat --by errno --comm agree", Fields: []string{"errno"}},
	{Tool: "TCP binds by port and result", Map: "binds", Script: `kretfunc:inet_bind /comm == "agree" && args->sock->sk->sk_protocol == 6/ { @binds[args->sock->sk->__sk_common.skc_num, retval] = count(); }
kretfunc:inet6_bind /comm == "agree" && args->sock->sk->sk_protocol == 6/ { @binds[args->sock->sk->__sk_common.skc_num, retval] = count(); }`,
		Ours: "tcpbind --comm agree", Fields: []string{"port", "ret"}},
	{Tool: "listen(2) by backlog", Map: "listens", Script: `tracepoint:syscalls:sys_enter_listen ` + mine + ` { @listens[args->backlog] = count(); }`,
		Ours: "solisten --comm agree", Fields: []string{"backlog"}},
	{Tool: "poll(2) by descriptors", Map: "polls", Script: `tracepoint:syscalls:sys_enter_poll ` + mine + ` { @polls[args->nfds] = count(); }`,
		Ours: "pollfds --compat --by nfds --comm agree", Fields: []string{"nfds"}},
	{Tool: "receives by protocol", Map: "receives", Script: `kprobe:sock_recvmsg ` + mine + ` { @receives[((struct socket *)arg0)->sk->__sk_common.skc_prot->name] = count(); }`,
		Ours: "socketio --compat --by dir,proto --comm agree", Fields: []string{"proto"}, Where: map[string]string{"dir": "read"}},
	{Tool: "receive sizes", Map: "receive_bytes", Script: `kretprobe:sock_recvmsg /comm == "agree" && (int32)retval >= 0/ { @receive_bytes = hist(retval); @received = sum(retval); }`,
		Ours: "socksize --compat --by none --comm agree", Table: "read_bytes", Fields: []string{"low"}},
	{Tool: "bytes received", Map: "received", Ours: "sockbytes --by dir --comm agree", Where: map[string]string{"dir": "recv"}},
	{Tool: "sends by protocol", Map: "sends", Since: "6.12", Script: `tracepoint:sock:sock_send_length ` + mine + ` { @sends[((struct sock *)args->sk)->__sk_common.skc_prot->name] = count(); if (args->ret >= 0) { @send_bytes = hist(args->ret); @sent = sum(args->ret); } }`,
		Ours: "socketio --compat --by dir,proto --comm agree", Fields: []string{"proto"}, Where: map[string]string{"dir": "write"}},
	{Tool: "sends by protocol", Map: "sends", Until: "6.1", Script: `kprobe:__sock_sendmsg ` + mine + ` { @sends[((struct socket *)arg0)->sk->__sk_common.skc_prot->name] = count(); }
kretprobe:__sock_sendmsg /comm == "agree" && (int32)retval >= 0/ { @send_bytes = hist(retval); @sent = sum(retval); }`,
		Ours: "socketio --compat --by dir,proto --comm agree", Fields: []string{"proto"}, Where: map[string]string{"dir": "write"}},
	{Tool: "send sizes", Map: "send_bytes", Ours: "socksize --compat --by none --comm agree", Table: "write_bytes", Fields: []string{"low"}},
	{Tool: "bytes sent", Map: "sent", Ours: "sockbytes --by dir --comm agree", Where: map[string]string{"dir": "send"}},
	{Tool: "limit of the receive buffer at receives", Map: "rcvbuf", Script: `kprobe:sock_recvmsg ` + mine + ` { @rcvbuf = hist(((struct socket *)arg0)->sk->sk_rcvbuf); }`,
		Ours: "sormem --compat --comm agree", Table: "rmem_limit", Fields: []string{"low"}},
	{Tool: "reads and writes by kind of file", Map: "files", Script: `kfunc:vfs_read ` + mine + ` { @files["vfs_read", args->file->f_inode->i_mode & 0xf000] = count(); }
kfunc:vfs_write ` + mine + ` { @files["vfs_write", args->file->f_inode->i_mode & 0xf000] = count(); }`, Names: map[string]string{"49152": "socket", "32768": "regular", "24576": "block", "16384": "directory", "8192": "character", "4096": "fifo"},
		Ours: "filetype --by func,type --comm agree", Fields: []string{"func", "type"}},
	{Tool: "descriptors received", Map: "passed", Script: `kprobe:scm_detach_fds ` + mine + ` { @passed[comm] = sum(((struct scm_cookie *)arg1)->fp->count); }`,
		Ours: "sofdsnoop --comm agree", Fields: []string{"comm"}, Where: map[string]string{"action": "RECV"}},
	{Tool: "TCP connects by process", Map: "tcp_connects", Script: `kprobe:tcp_v4_connect,kprobe:tcp_v6_connect ` + mine + ` { @tcp_connects[comm] = count(); }`,
		Ours: "tcpconncount --by comm --comm agree", Fields: []string{"comm"}},
	{Tool: "TCP accepts by process", Map: "tcp_accepts", Script: `kprobe:inet_csk_accept ` + mine + ` { @tcp_accepts[comm] = count(); }`,
		Ours: "tcpacceptcount --by comm --comm agree", Fields: []string{"comm"}},
	{Tool: "TCP sends and receives", Map: "tcp", Script: `kprobe:tcp_recvmsg ` + mine + ` { @tcp[func] = count(); }
kprobe:tcp_sendmsg ` + mine + ` { @tcp[func] = count(); @tcp_send_bytes = hist(arg2); }`,
		Ours: "tcpcalls --comm agree", Fields: []string{"func"}},
	{Tool: "TCP send sizes", Map: "tcp_send_bytes",
		Ours: "tcpsendsize --compat --comm agree", Fields: []string{"low"}},
	{Tool: "TCP receive sizes", Map: "tcp_recv_bytes", Script: `kretprobe:tcp_recvmsg /comm == "agree" && (int32)retval >= 0/ { @tcp_recv_bytes = hist(retval); }`,
		Ours: "tcprecvsize --comm agree", Fields: []string{"low"}},
	{Tool: "TCP retransmissions by kind", Map: "retrans", Script: `tracepoint:tcp:tcp_retransmit_skb,tracepoint:tcp:tcp_retransmit_synack { @retrans[probe] = count(); }`,
		Ours: "retranshosts --by probe --compat", Fields: []string{"probe"}},
	{Tool: "TCP changes of state", Map: "states", Script: `tracepoint:sock:inet_sock_set_state /args->protocol == 6/ { @states[args->oldstate, args->newstate] = count(); }`, Names: stateNames,
		Ours: "tcpstates", Fields: []string{"old_state", "new_state"}},
	{Tool: "congestion window at each segment received", Map: "windows", Script: `kfunc:tcp_rcv_established { $tp = (struct tcp_sock *)args->sk; @windows[$tp->snd_cwnd, $tp->snd_ssthresh, args->sk->sk_sndbuf] = count(); }`,
		Ours: "tcpwin --compat", Fields: []string{"snd_cwnd", "snd_ssthresh", "sk_sndbuf"}},
	{Tool: "Nagle's setting at attempts to transmit", Map: "nagle", Script: `kfunc:tcp_write_xmit { @nagle[args->nonagle] = count(); }`, Names: map[string]string{"0": "ON", "1": "OFF", "2": "CORK", "3": "OFF|CORK", "4": "PUSH", "5": "OFF|PUSH"},
		Ours: "tcpnagle --compat", Table: "nagle", Fields: []string{"flags"}},
	{Tool: "accept queue at handshakes", Map: "queue", Script: `kprobe:tcp_v4_syn_recv_sock,kprobe:tcp_v6_syn_recv_sock { $sk = (struct sock *)arg0; @queue[$sk->sk_max_ack_backlog] = hist($sk->sk_ack_backlog); }`,
		Ours: "tcpsynbl --compat", Fields: []string{"limit", "low"}},
	{Tool: "UDP connects by function", Map: "udp_connects", Until: "6.12", Script: `kprobe:ip4_datagram_connect,kprobe:ip6_datagram_connect ` + mine + ` { @udp_connects[comm] = count(); }`,
		Ours: "udpconnect --compat --comm agree", Fields: []string{"comm"}},
	{Tool: "UDP sends and receives", Map: "udp", Script: `kprobe:udp_recvmsg,kprobe:udpv6_sendmsg,kprobe:udpv6_recvmsg ` + mine + ` { @udp[func] = count(); }
kprobe:udp_sendmsg ` + mine + ` { @udp[func] = count(); @udp_send_bytes = hist(arg2); }`,
		Ours: "udpcalls --by func --comm agree", Fields: []string{"func"}},
	{Tool: "UDP send sizes", Map: "udp_send_bytes",
		Ours: "udpsendsize --compat --comm agree", Fields: []string{"low"}},
	{Tool: "UDP receive sizes", Map: "udp_recv_bytes", Script: `kretprobe:udp_recvmsg,kretprobe:udpv6_recvmsg /comm == "agree" && (int32)retval >= 0/ { @udp_recv_bytes = hist(retval); }`,
		Ours: "udprecvsize --comm agree", Fields: []string{"low"}},
	{Tool: "echo replies by sequence number", Map: "pings", Script: `kfunc:icmp_rcv { $h = args->skb->head + args->skb->transport_header; if (*(uint8 *)$h == 0) { @pings[bswap(*(uint16 *)($h + 6))] = count(); } }
kfunc:icmpv6_rcv { $h = args->skb->head + args->skb->transport_header; if (*(uint8 *)$h == 129) { @pings[bswap(*(uint16 *)($h + 6))] = count(); } }`,
		Ours: "superping", Fields: []string{"icmp_seq"}},
	{Tool: "packets received that are marked for congestion", Map: "marked", Script: `tracepoint:net:netif_receive_skb { $skb = (struct sk_buff *)args->skbaddr;
	$ip = (struct iphdr *)($skb->head + $skb->network_header); if ($skb->protocol == 8 && ($ip->tos & 3) == 3) { @marked[ntop($ip->saddr)] = count(); } }`,
		Ours: "ipecn --compat", Fields: []string{"saddr"}},
	{Tool: "packet sizes given to drivers", Map: "nic_send_bytes", Script: `tracepoint:net:net_dev_xmit { @nic_send_bytes[str(args->name)] = hist(args->len); }`,
		Ours: "netsize --compat --by dev", Table: "nic_send_bytes", Fields: []string{"dev", "low"}},
	{Tool: "packet sizes received", Map: "recv_bytes", Script: `tracepoint:net:netif_receive_skb { @recv_bytes[str(args->name)] = hist(args->len); }`,
		Ours: "netsize --compat --by dev", Table: "recv_bytes", Fields: []string{"dev", "low"}},
	{Tool: "packet sizes sent", Map: "dev_send_bytes", Script: `tracepoint:net:net_dev_queue { @dev_send_bytes[str(args->name)] = hist(args->len); }`,
		Ours: "netsize --compat --by dev", Table: "send_bytes", Fields: []string{"dev", "low"}},
	{Tool: "packets from driver to release", Map: "released", Script: `tracepoint:net:net_dev_start_xmit { @given[args->skbaddr] = nsecs; }
tracepoint:skb:consume_skb /@given[args->skbaddr]/ { @released = count(); delete(@given[args->skbaddr]); }
tracepoint:net:net_dev_queue { delete(@given[args->skbaddr]); }`,
		Ours: "nettxlat --compat --by none"},
	{Tool: "packets received by device and CPU", Map: "cpus", Script: `tracepoint:net:netif_receive_skb { @cpus[str(args->name)] = lhist(cpu, 0, 128, 1); }`,
		Ours: "rxcpus", Fields: []string{"dev", "low"}},
	{Tool: "packets into and out of tbf", Map: "shaped", Script: `kprobe:tbf_enqueue { @queued[arg0] = nsecs; }
kretprobe:tbf_dequeue /@queued[retval]/ { @shaped = count(); delete(@queued[retval]); }`,
		Ours: "qdisclat --compat --kind tbf --by none"},
	{Tool: "drops by reason", Map: "drops", Script: `tracepoint:skb:kfree_skb { @drops[args->reason] = count(); }`, NamesFile: "kfree_skb.format",
		Ours: "skbdrop", Table: "reasons", Fields: []string{"reason"}},
	{Tool: "soft interrupts of the network", Map: "softirqs", Script: `tracepoint:irq:softirq_entry /args->vec == 2 || args->vec == 3/ { @softirqs[args->vec] = count(); }`, Names: map[string]string{"2": "net_tx", "3": "net_rx"},
		Ours: "softirqs -C", Fields: []string{"vector"}, Where: map[string]string{"vector": "net_*"}, Count: "runs"},
	{Tool: "functions tcp_v4_*", Map: "functions", Script: `kprobe:` + CountFuncs + ` { @functions[func] = count(); }`,
		Ours: "funccount", Fields: []string{"func"}},
	{Tool: "tracepoints of TCP", Map: "tracepoints", Script: `tracepoint:` + strings.Join(CountTracepoints, ",tracepoint:") + ` { @tracepoints[probe] = count(); }`,
		Ours: "tpcount", Fields: []string{"probe"}},
}
