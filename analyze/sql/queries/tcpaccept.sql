-- Accepted TCP connections: the accept queue behind them, and how long they lay in it
-- since the end of their handshake. Recordings without tcp_accept_fn do not know the queue, and
-- neither do those of calls that waited when they began.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, pid, comm, laddr, lport, raddr, rport, sk_ack_backlog, sk_max_ack_backlog,
        child_ack_backlog, child_max_ack_backlog, dur_ns, ts_ns, cpu, seq, sock, netns,
        max(CASE WHEN event = 'tcp_accept_fn' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS shown_ns,
        max(CASE WHEN event = 'tcp_accept_fn' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function,
        max(CASE WHEN event = 'tcp_state' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS born_ns
    FROM capture
    WHERE sock <> 0 AND (event IN ('tcp_accept_fn', 'sys_accept') OR event = 'tcp_state' AND new_state = 'ESTABLISHED')
)
SELECT {{host}}pid, comm, CASE WHEN raddr LIKE '%:%' THEN 6 ELSE 4 END AS ip, raddr, rport, laddr, lport,
    {{div "ts_ns - born_ns" 1000}} AS wait_us, sk_ack_backlog AS backlog, sk_max_ack_backlog AS backlog_limit,
    child_ack_backlog AS child_backlog, child_max_ack_backlog AS child_backlog_limit, ts_ns, {{hex "sock"}} AS sock, netns
FROM calls
WHERE laddr <> '' AND (event = 'tcp_accept_fn' OR event = 'sys_accept' AND (by_function = 0 OR dur_ns IS NULL AND born_ns > coalesce(shown_ns, 0)))
ORDER BY {{host}}ts_ns, cpu, seq
