-- Attempts to open a TCP connection and how they ended: connected, the error, closed where the
-- process gave up, pending where the recording ended first. From the kernel's connect function
-- where it was recorded, else from the change of state to SYN_SENT.
WITH {{capture}},
{{template "lives.sql" events "tcp_connect_fn"}}, {{template "sockets.sql" ""}}, {{template "handshakes.sql" "tcp_connect_fn"}}, calls AS (
    SELECT {{host}}sock, generation, ts_ns, min(ts_ns - dur_ns) AS called_ns, min(ret) AS ret, min(dest_addr) AS dest_addr, min(dest_port) AS dest_port
    FROM lives
    WHERE event = 'sys_connect'
    GROUP BY {{host}}sock, generation, ts_ns
), attempts AS (
    SELECT {{hostof "t"}}t.sock AS sock, t.generation AS generation, t.pid AS pid, t.comm AS comm, t.netns AS netns, t.ts_ns AS ts_ns, t.cpu AS cpu, t.seq AS seq,
        h.began_ns AS began_ns, CASE WHEN coalesce(t.ret, 0) <> 0 THEN t.ts_ns ELSE h.ended_ns END AS ended_ns,
        CASE WHEN coalesce(t.ret, 0) <> 0 THEN t.ret WHEN h.end_state <> 'CLOSE' THEN 0 WHEN h.end_err <> 0 THEN -h.end_err
            WHEN t.by_event = 0 AND c.called_ns <= t.ts_ns AND c.ret < 0 AND c.ret NOT IN (-4, -106, -114, -115) THEN c.ret ELSE 0 END AS error,
        CASE WHEN t.by_state = 0 THEN 'begun' WHEN h.ended_ns IS NULL THEN 'pending' WHEN h.end_state = 'CLOSE' THEN 'closed' ELSE 'connected' END AS outcome,
        CASE WHEN t.rport <> 0 THEN t.raddr WHEN c.called_ns <= t.ts_ns THEN c.dest_addr END AS daddr,
        CASE WHEN t.rport <> 0 THEN t.rport WHEN c.called_ns <= t.ts_ns THEN c.dest_port END AS dport
    FROM steps AS t LEFT JOIN handshakes AS h ON {{same "t" "h"}}t.sock = h.sock AND t.generation = h.generation AND t.attempt = h.attempt
        LEFT JOIN calls AS c ON {{same "t" "c"}}t.sock = c.sock AND t.generation = c.generation AND t.returned_ns = c.ts_ns
    WHERE t.event = 'tcp_connect_fn' OR t.by_event = 0 AND t.new_state = 'SYN_SENT'
)
SELECT {{hostof "t"}}t.pid AS pid, t.comm AS comm, CASE WHEN coalesce(t.daddr, o.raddr) LIKE '%:%' THEN 6 ELSE 4 END AS ip, nullif(o.laddr, '') AS saddr, nullif(o.lport, 0) AS lport,
    nullif(coalesce(t.daddr, o.raddr), '') AS daddr, coalesce(t.dport, o.rport, 0) AS dport, CASE WHEN t.error <> 0 THEN {{errno "t.error"}} ELSE t.outcome END AS result,
    ({{div "t.ended_ns - t.began_ns" 1000}}) / 1e3 AS lat_ms, {{hex "t.sock"}} AS sock, t.generation AS generation, t.netns AS netns, t.ts_ns AS ts_ns
FROM attempts AS t JOIN sockets AS o ON {{same "t" "o"}}t.sock = o.sock AND t.generation = o.generation
ORDER BY {{byhost "t"}}t.ts_ns, t.cpu, t.seq
