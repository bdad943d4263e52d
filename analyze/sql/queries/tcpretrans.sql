-- Buffers (R), tail loss probes (L) and SYN-ACKs (S) that TCP retransmitted, with their segments, the process
-- that owns the socket and the congestion window when its last segment had arrived.
WITH {{capture}},
{{template "lives.sql" events "tcp_retrans" "tcp_tlp" "tcp_synack_retrans" "tcp_rcv_est"}}, {{template "sockets.sql" ""}}, again AS (
    SELECT *, sum(CASE WHEN event = 'tcp_rcv_est' THEN 1 ELSE 0 END)
        OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS arrived
    FROM lives
), windows AS (
    SELECT *, max(CASE WHEN event = 'tcp_rcv_est' THEN snd_cwnd END) OVER (PARTITION BY {{host}}sock, generation, arrived) AS cwnd_then
    FROM again
)
SELECT {{hostof "w"}}o.pid AS pid, o.comm AS comm, CASE WHEN w.raddr LIKE '%:%' THEN 6 ELSE 4 END AS ip, w.retrans_kind AS kind, w.state AS state,
    CASE WHEN w.event = 'tcp_retrans' THEN w.tcp_seq END AS tcp_seq, CASE WHEN w.event = 'tcp_retrans' THEN w.len_bytes END AS len_bytes,
    CASE w.event WHEN 'tcp_retrans' THEN CASE WHEN coalesce(w.err, 0) >= 0 THEN coalesce(w.retrans_segs, 1) ELSE 0 END WHEN 'tcp_synack_retrans' THEN 1 ELSE 0 END AS segs,
    CASE WHEN w.retrans_kind <> 'S' THEN nullif(w.cwnd_then, 0) END AS cwnd_before, nullif(w.snd_cwnd, 0) AS cwnd,
    w.laddr AS laddr, w.lport AS lport, w.raddr AS raddr, w.rport AS rport, {{hex "w.sock"}} AS sock, w.generation AS generation, w.netns AS netns, w.ts_ns AS ts_ns
FROM windows AS w JOIN sockets AS o ON {{same "w" "o"}}w.sock = o.sock AND w.generation = o.generation
WHERE w.event IN ('tcp_retrans', 'tcp_synack_retrans') OR w.event = 'tcp_tlp' AND w.probe_sent <> 0 AND coalesce(w.retrans_segs, 0) = 0
ORDER BY {{byhost "w"}}ts_ns, w.cpu, w.seq
