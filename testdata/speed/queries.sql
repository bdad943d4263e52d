-- The questions of netrec analyze in SQL, for the comparison of speed: see speed.py.
--
-- A query begins at a line "-- @ NAME [TABLE [COLUMN]]". NAME and what follows it up to
-- "|" are arguments of netrec analyze. After "|" stand the tables of its answer and the
-- column whose sum must be that of the query's last column ("rows": as many rows as the
-- query; "~": the query leaves out what SQL cannot say in reasonable length, such as
-- lives of reused addresses, and the answers are not compared).
--
-- capture is the file, bucket(v) the bucket of a log2 histogram.

-- @ overview | events rows
SELECT event, count(*) AS n FROM capture WHERE event NOT IN ('meta', 'lost', 'cost') GROUP BY event;

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

-- @ tcplife | sessions rows
WITH states AS (
    SELECT *, count(*) FILTER (new_state = 'CLOSE')
        OVER (PARTITION BY netns, sock ORDER BY ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS life
    FROM capture WHERE event = 'tcp_state'
), lives AS (
    SELECT netns, sock, life, min(ts_ns) FILTER (new_state IN ('SYN_SENT', 'SYN_RECV', 'ESTABLISHED')) AS birth,
        max(ts_ns) FILTER (new_state = 'CLOSE') AS closed
    FROM states GROUP BY ALL
)
SELECT pid, comm, laddr, lport, raddr, rport, bytes_acked, bytes_received, closed - birth AS life_ns
FROM states JOIN lives USING (netns, sock, life) WHERE ts_ns = closed AND new_state = 'CLOSE' AND birth IS NOT NULL;

-- @ tcpstates | changes rows
SELECT sock, pid, comm, laddr, lport, raddr, rport, old_state, new_state,
    ts_ns - lag(ts_ns) OVER (PARTITION BY netns, sock ORDER BY ts_ns) AS ns
FROM capture WHERE event = 'tcp_state' ORDER BY ts_ns;

-- @ tcpaccept | ~
SELECT ts_ns, pid, comm, raddr, rport, laddr, lport, sk_ack_backlog, sk_max_ack_backlog FROM capture
WHERE event = 'tcp_accept_fn' AND ret = 0 ORDER BY ts_ns;

-- @ tcpaccept-tp | ~
SELECT ts_ns, pid, comm, raddr, rport, laddr, lport FROM capture
WHERE event = 'tcp_state' AND old_state = 'SYN_RECV' AND new_state = 'ESTABLISHED' ORDER BY ts_ns;

-- @ tcpconnect | ~
SELECT ts_ns, pid, comm, laddr, raddr, rport FROM capture WHERE event = 'tcp_connect_fn' ORDER BY ts_ns;

-- @ tcpconnect-tp | ~
SELECT ts_ns, pid, comm, laddr, lport, raddr, rport FROM capture
WHERE event = 'tcp_state' AND old_state = 'CLOSE' AND new_state = 'SYN_SENT' ORDER BY ts_ns;

-- @ tcpacceptcount | ~
SELECT pid, comm, count(*) AS n FROM capture WHERE event = 'tcp_accept_fn' GROUP BY ALL ORDER BY n;

-- @ tcpconncount | ~
SELECT pid, comm, count(*) AS n FROM capture WHERE event = 'tcp_connect_fn' GROUP BY ALL ORDER BY n;

-- @ tcpcalls | ~
SELECT func, count(*) AS n FROM capture WHERE event = 'tcp_msg' GROUP BY ALL ORDER BY n;

-- @ tcpsendsize | * count
SELECT bucket(asked_bytes), count(*) AS n FROM capture WHERE event = 'tcp_msg' AND dir = 'send' GROUP BY ALL;

-- @ tcprecvsize | * count
SELECT bucket(ret), count(*) AS n FROM capture WHERE event = 'tcp_msg' AND dir = 'recv' AND ret >= 0 GROUP BY ALL;

-- @ udpcalls | ~
SELECT func, pid, comm, count(*) AS n FROM capture WHERE event = 'udp_msg' GROUP BY ALL ORDER BY n;

-- @ udpsendsize | * count
SELECT bucket(asked_bytes), count(*) AS n FROM capture WHERE event = 'udp_msg' AND dir = 'send' GROUP BY ALL;

-- @ udprecvsize | * count
SELECT bucket(ret), count(*) AS n FROM capture WHERE event = 'udp_msg' AND dir = 'recv' AND ret >= 0 GROUP BY ALL;

-- @ tcptop | ~
SELECT ts_ns // 1000000000 AS second, pid, comm, laddr, lport, raddr, rport, sum(ret) FILTER (dir = 'recv') AS rx, sum(ret) FILTER (dir = 'send') AS tx
FROM capture WHERE event = 'tcp_msg' AND ret > 0 GROUP BY ALL ORDER BY second, rx + tx DESC;

-- @ tcpsynbl | ~
SELECT sk_max_ack_backlog, bucket(sk_ack_backlog), count(*) AS n FROM capture WHERE event = 'tcp_syn_recv' GROUP BY ALL;

-- @ tcpwin | ~
SELECT event, sock, ts_ns, snd_cwnd, snd_ssthresh, sk_sndbuf, sk_wmem_queued FROM capture
WHERE event IN ('tcp_rcv_est', 'tcp_retrans') OR event = 'tcp_state' AND new_state = 'ESTABLISHED' ORDER BY ts_ns;

-- @ tcpnagle | nagle count
SELECT nonagle & 7, count(*) AS n FROM capture WHERE event = 'tcp_write_xmit' GROUP BY ALL;

-- @ tcpretrans | ~
SELECT ts_ns, pid, laddr, lport, raddr, rport, state, retrans_kind FROM capture
WHERE event IN ('tcp_retrans', 'tcp_tlp', 'tcp_synack_retrans') ORDER BY ts_ns;

-- @ retranshosts | ~
SELECT event, raddr, count(*) AS n FROM capture WHERE event IN ('tcp_retrans', 'tcp_synack_retrans') GROUP BY ALL ORDER BY n;

-- @ tcpdrop | ~
SELECT ts_ns, pid, saddr, sport, daddr, dport, state, tcp_flags, drop_reason, kstack FROM capture
WHERE event = 'skb_drop' AND protocol = 'tcp' ORDER BY ts_ns;

-- @ skbdrop | stacks count
SELECT array_to_string(list_slice(string_split(coalesce(kstack, location), ';'), -8, NULL), ';') AS stack, count(*) AS n FROM capture
WHERE event = 'skb_drop' GROUP BY ALL ORDER BY n;

-- @ ipecn | ~
SELECT ts_ns, dir, saddr, daddr, dev FROM capture WHERE event = 'ip_ecn' AND tos & 3 = 3 ORDER BY ts_ns;

-- @ superping | ~
SELECT q.ts_ns, q.icmp_id, q.icmp_seq, min(a.ts_ns - q.ts_ns) // 1000 AS us
FROM capture q JOIN capture a ON a.icmp_id = q.icmp_id AND a.icmp_seq = q.icmp_seq AND a.saddr = q.daddr AND a.daddr = q.saddr AND a.ts_ns > q.ts_ns
WHERE q.event = 'icmp_echo' AND a.event = 'icmp_echo' AND q.icmp_type = 8 AND a.icmp_type = 0 GROUP BY ALL ORDER BY q.ts_ns;

-- @ udpconnect | ~
SELECT ts_ns, pid, comm, dest_addr, dest_port FROM capture WHERE event = 'udp_connect' AND protocol = 'udp' ORDER BY ts_ns;

-- @ udplife | ~
SELECT netns, sock, cookie, any_value(pid), any_value(raddr), any_value(rport), sum(ret) FILTER (dir = 'send' AND ret > 0) AS tx,
    sum(ret) FILTER (dir = 'recv' AND ret > 0) AS rx, max(ts_ns) - min(ts_ns) AS ns
FROM capture WHERE event IN ('udp_connect', 'udp_msg', 'udp_gone') GROUP BY netns, sock, cookie;

-- @ gethostlatency | lookups rows
SELECT ts_ns, pid, comm, dur_ns, host FROM capture WHERE event = 'dns_call' ORDER BY ts_ns;

-- @ so1stbyte | ~
SELECT k.comm, k.pid, bucket((r.ts_ns - k.ts_ns + k.dur_ns) // 1000), count(*) AS n
FROM (SELECT * FROM capture WHERE event = 'sys_connect' AND ret IN (0, -115)) k
ASOF JOIN (SELECT netns, sock, ts_ns FROM capture WHERE event = 'sock_io' AND dir = 'recv' AND ret > 0) r
    ON r.netns = k.netns AND r.sock = k.sock AND r.ts_ns <= k.ts_ns + 60000000000
GROUP BY ALL;

-- @ socksize | * count
SELECT dir, comm, bucket(ret), count(*) AS n FROM capture
WHERE event = 'sock_io' AND ret >= 0 AND NOT (dir = 'recv' AND coalesce(msg_flags, 0) & 2 != 0) GROUP BY ALL;

-- @ socksize --stats | * count
SELECT dir, comm, sum(ret), avg(ret), count(*) AS n FROM capture
WHERE event = 'sock_io' AND ret >= 0 AND NOT (dir = 'recv' AND coalesce(msg_flags, 0) & 2 != 0) GROUP BY ALL;

-- @ qdisclat | us count
WITH rows AS (
    SELECT event, qdisc_kind, ts_ns, lead(event) OVER w AS next, lead(ts_ns) OVER w AS until
    FROM capture WHERE event IN ('qdisc_enq', 'qdisc_deq', 'skb_consume', 'skb_drop', 'skb_free', 'dev_start_xmit')
    WINDOW w AS (PARTITION BY skb ORDER BY ts_ns)
)
SELECT qdisc_kind, bucket((until - ts_ns) // 1000), count(*) AS n FROM rows WHERE event = 'qdisc_enq' AND next = 'qdisc_deq' GROUP BY ALL;

-- @ netsize | * count
SELECT event, bucket(len_bytes), count(*) AS n FROM capture
WHERE event IN ('dev_gro_in', 'dev_recv', 'dev_queue') OR event = 'dev_xmit' AND rc != 16 GROUP BY ALL;

-- @ nettxlat | us count
WITH rows AS (
    SELECT event, ts_ns, lead(event) OVER w AS next, lead(ts_ns) OVER w AS until
    FROM capture WHERE event IN ('dev_start_xmit', 'skb_consume', 'dev_queue', 'skb_drop', 'dev_recv', 'dev_gro_in', 'skb_free', 'skb_alloc')
    WINDOW w AS (PARTITION BY skb ORDER BY ts_ns)
)
SELECT bucket((until - ts_ns) // 1000), count(*) AS n FROM rows WHERE event = 'dev_start_xmit' AND next = 'skb_consume' GROUP BY ALL;

-- @ skblife | skb_residency_nsecs count
WITH rows AS (
    SELECT event, ts_ns, lead(event) OVER w AS next, lead(ts_ns) OVER w AS until
    FROM capture WHERE event IN ('skb_alloc', 'skb_free') OR event = 'skb_derive' AND derive_kind = 'clone' AND ok = 1
    WINDOW w AS (PARTITION BY skb ORDER BY ts_ns)
)
SELECT bucket(until - ts_ns), count(*) AS n FROM rows WHERE event != 'skb_free' AND next = 'skb_free' GROUP BY ALL;

-- @ txstacks | stacks count
SELECT kstack, count(*) AS n FROM capture WHERE event = 'dev_xmit' GROUP BY ALL ORDER BY n;

-- @ rxcpus | cpus count
SELECT dev, cpu, count(*) AS n FROM capture WHERE event = 'dev_recv' GROUP BY ALL;

-- @ profile | stacks count
SELECT kstack, ustack, comm, pid, count(*) AS n FROM capture WHERE event = 'cpu_sample' GROUP BY ALL ORDER BY n;

-- @ hardirqs | interrupts runs
SELECT irq_name, sum(dur_ns) // 1000 AS us, count(*) AS n FROM capture WHERE event = 'irq' GROUP BY ALL ORDER BY us;

-- @ softirqs --compat | interrupts runs
SELECT vector, sum(dur_ns) // 1000 AS us, count(*) AS n FROM capture WHERE event = 'softirq' GROUP BY ALL ORDER BY us DESC;

-- @ soconnect | connects rows
SELECT pid, comm, family, dest_addr, dest_port, dur_ns // 1000 AS us, ret FROM capture
WHERE event = 'sys_connect' AND family IN ('inet', 'inet6') ORDER BY ts_ns;

-- @ soaccept | accepts rows
SELECT pid, comm, family, raddr, rport, ret, lport FROM capture WHERE event = 'sys_accept' AND family IN ('inet', 'inet6') ORDER BY ts_ns;

-- @ conncount | * count
SELECT pid, comm, count(*) AS n FROM capture WHERE event = 'sys_connect' GROUP BY ALL ORDER BY n;

-- @ acceptcount | * count
SELECT pid, comm, count(*) AS n FROM capture WHERE event = 'sys_accept' GROUP BY ALL ORDER BY n;

-- @ connfails | failed count
SELECT comm, -ret, count(*) AS n FROM capture WHERE event = 'sys_connect' AND ret < 0 AND ret != -115 GROUP BY ALL ORDER BY n;

-- @ connstacks | calls count
SELECT ustack, count(*) AS n FROM capture WHERE event = 'sys_connect' GROUP BY ALL ORDER BY n;

-- @ soconnlat | ~
SELECT k.ustack, k.comm, bucket((s.ts_ns - k.ts_ns + k.dur_ns) // 1000), count(*) AS n
FROM (SELECT * FROM capture WHERE event = 'sys_connect' AND ret IN (0, -115)) k
JOIN (SELECT netns, sock, cookie, ts_ns FROM capture WHERE event = 'tcp_state' AND old_state = 'SYN_SENT' AND new_state = 'ESTABLISHED') s
    ON s.netns = k.netns AND s.sock = k.sock AND s.cookie = k.cookie
GROUP BY ALL;

-- @ socketio | ~
SELECT comm, pid, dir, prot_name, rport, count(*) AS n FROM capture WHERE event = 'sock_io' GROUP BY ALL ORDER BY n;

-- @ sockbytes | bytes count
SELECT pid, comm, dir, sum(ret) AS n FROM capture WHERE event = 'sock_io' AND ret > 0 GROUP BY ALL ORDER BY n;

-- @ sockcalls | calls count
SELECT dir, pid, comm, count(*) AS n FROM capture WHERE event = 'sock_io' GROUP BY ALL ORDER BY n;

-- @ sockstat | ~
SELECT ts_ns // 1000000000, event, func, dir, count(*) AS n FROM capture
WHERE event IN ('sys_accept', 'sys_connect', 'sys_bind', 'sys_socket', 'sock_io') GROUP BY ALL ORDER BY 1, n;

-- @ sofamily | ~
SELECT event, comm, family, count(*) AS n FROM capture WHERE event IN ('sys_connect', 'sys_accept') AND (event = 'sys_connect' OR ret >= 0) GROUP BY ALL ORDER BY n;

-- @ soprotocol | ~
SELECT event, comm, protocol, count(*) AS n FROM capture WHERE event IN ('sys_connect', 'sys_accept') GROUP BY ALL ORDER BY n;

-- @ solife | ~
SELECT netns, sock, cookie, any_value(pid) FILTER (event IN ('sys_connect', 'sys_accept')), min(ts_ns) FILTER (event IN ('sys_connect', 'sys_accept')) AS began,
    max(ts_ns) FILTER (event = 'sys_close') AS ended, sum(ret) FILTER (event = 'sock_io' AND dir = 'send' AND ret > 0) AS tx,
    sum(ret) FILTER (event = 'sock_io' AND dir = 'recv' AND ret > 0) AS rx
FROM capture WHERE event IN ('sys_connect', 'sys_accept', 'sys_close', 'sock_io') GROUP BY ALL;

-- @ solisten | listens rows
SELECT pid, comm, protocol, backlog, sk_max_ack_backlog, lport, laddr, ret FROM capture WHERE event = 'sys_listen' ORDER BY ts_ns;

-- @ tcpbind | ~
SELECT ts_ns, pid, comm, bind_addr, lport, bind_port, ret FROM capture WHERE event = 'sys_bind' AND protocol = 'tcp' ORDER BY ts_ns;

-- @ sormem | rmem_limit count
SELECT bucket(sk_rcvbuf), bucket(sk_rmem_alloc), count(*) AS n FROM capture
WHERE event = 'sock_io' AND dir = 'recv' AND sk_rmem_alloc IS NOT NULL GROUP BY ALL;

-- @ pollfds | calls count
SELECT comm, nfds, count(*) AS n FROM capture WHERE event = 'sys_poll' AND func IN ('poll', 'ppoll') GROUP BY ALL ORDER BY n;

-- @ filetype | ~
SELECT file_type, func, comm, count(*) AS n FROM capture WHERE event = 'vfs_rw' GROUP BY ALL ORDER BY n;

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
