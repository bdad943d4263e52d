-- The questions of netrec analyze in SQL, for the comparison of speed: see speed.py.
--
-- A query begins at a line "-- @ NAME | TABLE,… COLUMN"; without SQL it is what netrec sql
-- prints. NAME and what follows it up to
-- "|" are arguments of netrec analyze. After "|" stand the tables of its answer and the
-- column whose sum must be that of the query's last column ("rows": as many rows as the
-- query; "~": the query leaves out what SQL cannot say in reasonable length, such as
-- lives of reused addresses, and the answers are not compared).
--
-- capture is the file, bucket(v) the bucket of a log2 histogram.

-- @ overview | events rows
-- @ eventrates | rates rows
-- @ tcplife | sessions rows
-- @ tcpstates | changes rows
-- @ tcpaccept | accepts rows
-- @ tcpaccept-tp | sessions rows
-- @ tcpconnect-tp | sessions rows
-- @ tcpconnect | connects rows
-- @ tcptop | top rows
-- @ tcpwin | rows rows
-- @ tcpacceptcount | accepts count
-- @ tcpconncount | connects count
-- @ tcpcalls | calls count
-- @ tcpsendsize | send_bytes count
-- @ tcprecvsize | recv_bytes count
-- @ udpcalls | calls count
-- @ udpsendsize | send_bytes count
-- @ udprecvsize | recv_bytes count
-- @ tcpretrans | retransmits rows
-- @ retranshosts | retransmits count
-- @ skbdrop | stacks,reasons count
-- @ udplife | sessions rows
-- @ gethostlatency | lookups rows
-- @ so1stbyte | us count
-- @ soconnlat | us,failed_us count
-- @ socksize | read_bytes,write_bytes count
-- @ qdisclat | us count
-- @ netsize | nic_recv_bytes,nic_send_bytes,recv_bytes,send_bytes count
-- @ nettxlat | us,local_us,dropped_us count
-- @ skblife | skb_residency_nsecs count
-- @ txstacks | stacks count
-- @ rxcpus | cpus count
-- @ profile | stacks count
-- @ hardirqs | interrupts rows
-- @ soconnect | connects rows
-- @ soaccept | accepts rows
-- @ conncount | calls count
-- @ acceptcount | calls count
-- @ connfails | failed count
-- @ connstacks | calls count
-- @ sockbytes | bytes count
-- @ sockcalls | calls count
-- @ sofamily | accept,connect count
-- @ solisten | listens rows
-- @ tcpbind | binds rows
-- @ sormem | rmem_alloc,rmem_arrival,rmem_limit count
-- @ filetype | calls count

-- @ findings | ~
SELECT event, coalesce(drop_reason, dest_addr, host, dev, hex(sock)) AS subject, date_trunc('second', make_timestamp_ns(ts_ns)) AS second,
    max(dur_ns), max(rmem_entry_bytes / sk_rcvbuf), min(snd_wnd), min(rcv_wnd), max(sk_ack_backlog - sk_max_ack_backlog), count(*) AS n
FROM capture WHERE event IN ('tcp_retrans', 'skb_drop', 'sys_connect', 'tcp_state', 'dns_call', 'tcp_rcv_est', 'tcp_write_xmit', 'sock_io', 'qdisc_deq', 'tcp_syn_arrive', 'tcp_syn_recv')
GROUP BY event, subject, second ORDER BY n DESC LIMIT 50;

-- @ socks | ~
SELECT netns, sock, any_value(pid) FILTER (ctx = 'task'), max(lport), max(rport), max(raddr), sum(ret) FILTER (dir = 'send' AND ret > 0) AS tx,
    sum(ret) FILTER (dir = 'recv' AND ret > 0) AS rx, count(*) AS n
FROM capture WHERE event IN ('tcp_state', 'sock_io', 'tcp_retrans', 'skb_drop', 'sys_connect', 'sys_accept', 'sys_close', 'tcp_rcv_est', 'tcp_write_xmit') AND sock != 0
GROUP BY netns, sock ORDER BY n DESC LIMIT 50;

-- @ tcpsynbl | ~
SELECT sk_max_ack_backlog, bucket(sk_ack_backlog), count(*) AS n FROM capture WHERE event = 'tcp_syn_recv' GROUP BY ALL;

-- @ tcpnagle | nagle count
SELECT nonagle & 7, count(*) AS n FROM capture WHERE event = 'tcp_write_xmit' GROUP BY ALL;

-- @ tcprtt | us count
SELECT bucket(srtt_us), count(*) AS n FROM capture WHERE event = 'tcp_rcv_est' AND srtt_us > 0 GROUP BY ALL;

-- @ sockerrors | errors count
SELECT sk_err, raddr, rport, count(*) AS n FROM capture
WHERE event = 'sock_error' AND NOT (protocol = 'tcp' AND rport = 0 AND sk_err = 104) GROUP BY ALL ORDER BY n;

-- @ waits | ~
SELECT ts_ns, sock, event, dir, snd_nxt, rcv_nxt, unsent_bytes, unread_bytes, payload_bytes, acked_bytes FROM capture
WHERE event IN ('tcp_rcv_est', 'sock_io', 'tcp_state', 'sys_accept', 'tcp_retrans') ORDER BY sock, ts_ns;

-- @ tcpdrop | ~
SELECT ts_ns, pid, saddr, sport, daddr, dport, state, tcp_flags, drop_reason, kstack FROM capture
WHERE event = 'skb_drop' AND protocol = 'tcp' ORDER BY ts_ns;

-- @ ipecn | ~
SELECT ts_ns, dir, saddr, daddr, dev, inner_saddr, inner_daddr FROM capture WHERE event = 'ip_ecn' AND (tos & 3 = 3 OR inner_tos & 3 = 3) ORDER BY ts_ns;

-- @ superping | ~
SELECT q.ts_ns, q.icmp_id, q.icmp_seq, min(a.ts_ns - q.ts_ns) // 1000 AS us
FROM capture q JOIN capture a ON a.icmp_id = q.icmp_id AND a.icmp_seq = q.icmp_seq AND a.saddr = q.daddr AND a.daddr = q.saddr AND a.ts_ns > q.ts_ns
WHERE q.event = 'icmp_echo' AND a.event = 'icmp_echo' AND q.icmp_type = 8 AND a.icmp_type = 0 GROUP BY ALL ORDER BY q.ts_ns;

-- @ udpconnect | ~
SELECT ts_ns, pid, comm, dest_addr, dest_port FROM capture WHERE event = 'udp_connect' AND protocol = 'udp' ORDER BY ts_ns;

-- @ socksize --stats | read_bytes,write_bytes count
SELECT dir, comm, sum(ret), avg(ret), count(*) AS n FROM capture
WHERE event = 'sock_io' AND ret >= 0 AND NOT (dir = 'recv' AND coalesce(msg_flags, 0) & 2 != 0) GROUP BY ALL;

-- @ softirqs --compat | interrupts runs
SELECT vector, sum(dur_ns) // 1000 AS us, count(*) AS n FROM capture WHERE event = 'softirq' GROUP BY ALL ORDER BY us DESC;

-- @ socketio | ~
SELECT comm, pid, dir, prot_name, rport, count(*) AS n FROM capture WHERE event = 'sock_io' GROUP BY ALL ORDER BY n;

-- @ sockstat | ~
SELECT ts_ns // 1000000000, event, func, dir, count(*) AS n FROM capture
WHERE event IN ('sys_accept', 'sys_connect', 'sys_bind', 'sys_socket', 'sock_io') GROUP BY ALL ORDER BY 1, n;

-- @ soprotocol | ~
SELECT event, comm, protocol, count(*) AS n FROM capture WHERE event IN ('sys_connect', 'sys_accept') GROUP BY ALL ORDER BY n;

-- @ solife | ~
SELECT netns, sock, cookie, any_value(pid) FILTER (event IN ('sys_connect', 'sys_accept')), min(ts_ns) FILTER (event IN ('sys_connect', 'sys_accept')) AS began,
    max(ts_ns) FILTER (event = 'sys_close') AS ended, sum(ret) FILTER (event = 'sock_io' AND dir = 'send' AND ret > 0) AS tx,
    sum(ret) FILTER (event = 'sock_io' AND dir = 'recv' AND ret > 0) AS rx
FROM capture WHERE event IN ('sys_connect', 'sys_accept', 'sys_close', 'sock_io') GROUP BY ALL;

-- @ pollfds | calls count
SELECT comm, nfds, count(*) AS n FROM capture WHERE event = 'sys_poll' AND func IN ('poll', 'ppoll') GROUP BY ALL ORDER BY n;

-- @ sofdsnoop | ~
SELECT dir, tid, comm, fd, sock, fd_passed, file_name FROM capture WHERE event = 'scm_fd' ORDER BY ts_ns;

-- @ funccount | counts count
SELECT symbol, sum("count") AS n FROM capture WHERE event = 'func_count' GROUP BY ALL ORDER BY n;

-- @ tpcount | counts count
SELECT symbol, sum("count") AS n FROM capture WHERE event = 'tp_count' GROUP BY ALL ORDER BY n;

-- @ ieee80211scan | ~
SELECT d.ts_ns, d.dev, d.aborted, (d.ts_ns - s.ts_ns) // 1000000 AS ms
FROM (SELECT * FROM capture WHERE event = 'wifi_scan' AND scan_step = 'done') d
ASOF JOIN (SELECT * FROM capture WHERE event = 'wifi_scan' AND scan_step = 'start') s
    ON s.wiphy = d.wiphy AND s.scan_request = d.scan_request AND s.ts_ns <= d.ts_ns
ORDER BY d.ts_ns;
