-- Calls of listen(2) on IP sockets, with the backlog asked for and the limit it got.
WITH {{capture}}, calls AS (
    SELECT {{host}}pid, comm, netns, family, CASE WHEN sock_type = 'stream' AND coalesce(protocol, '') IN ('', 'ip')
        THEN 'tcp' ELSE coalesce(protocol, '') END AS protocol, backlog, sk_max_ack_backlog, lport, laddr, ret, ts_ns, cpu, seq, sock
    FROM capture
    WHERE event = 'sys_listen' AND family IN ('inet', 'inet6')
)
SELECT {{host}}pid, comm, netns, concat(upper(protocol), CASE family WHEN 'inet6' THEN 'v6' ELSE 'v4' END) AS proto, backlog,
    CASE WHEN ret >= 0 THEN coalesce(sk_max_ack_backlog, 0) END AS {{name "limit"}}, coalesce(lport, 0) AS port, laddr AS addr, ret, ts_ns, {{hex "sock"}} AS sock
FROM calls
ORDER BY {{host}}ts_ns, cpu, seq
