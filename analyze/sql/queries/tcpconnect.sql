-- Attempts to open a TCP connection and how they ended: connected, the error, closed where the
-- process gave up, pending where the recording ended first. From the kernel's connect function
-- where it was recorded, else from the change of state to SYN_SENT.
WITH {{capture}},
{{template "lives.sql" events "tcp_connect_fn"}}, {{template "sockets.sql" ""}}, {{template "handshakes.sql" "tcp_connect_fn"}}, attempts AS (
    SELECT {{hostof "t"}}t.sock AS sock, t.generation AS generation, t.pid AS pid, t.comm AS comm, t.netns AS netns, t.ts_ns AS ts_ns, t.cpu AS cpu, t.seq AS seq,
        h.began_ns AS began_ns, CASE WHEN coalesce(t.ret, 0) <> 0 THEN t.ts_ns ELSE h.ended_ns END AS ended_ns,
        CASE WHEN coalesce(t.ret, 0) <> 0 THEN t.ret WHEN h.end_state = 'CLOSE' THEN -h.end_err ELSE 0 END AS error,
        CASE WHEN t.by_state = 0 THEN 'begun' WHEN h.ended_ns IS NULL THEN 'pending' WHEN h.end_state = 'CLOSE' THEN 'closed' ELSE 'connected' END AS outcome
    FROM steps AS t LEFT JOIN handshakes AS h ON {{same "t" "h"}}t.sock = h.sock AND t.generation = h.generation AND t.attempt = h.attempt
    WHERE t.event = 'tcp_connect_fn' OR t.by_event = 0 AND t.new_state = 'SYN_SENT'
)
SELECT {{hostof "t"}}t.pid AS pid, t.comm AS comm, CASE WHEN o.raddr LIKE '%:%' THEN 6 ELSE 4 END AS ip, nullif(o.laddr, '') AS saddr, nullif(o.lport, 0) AS lport,
    nullif(o.raddr, '') AS daddr, coalesce(o.rport, 0) AS dport, CASE WHEN t.error <> 0 THEN {{errno "t.error"}} ELSE t.outcome END AS result,
    ({{div "t.ended_ns - t.began_ns" 1000}}) / 1e3 AS lat_ms, {{hex "t.sock"}} AS sock, t.generation AS generation, t.netns AS netns, t.ts_ns AS ts_ns
FROM attempts AS t JOIN sockets AS o ON {{same "t" "o"}}t.sock = o.sock AND t.generation = o.generation
ORDER BY {{byhost "t"}}t.ts_ns, t.cpu, t.seq
