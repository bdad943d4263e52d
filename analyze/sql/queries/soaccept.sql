-- Calls of accept(2) over IP: from where, and how long the connection lay in the queue
-- since the end of its handshake.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, pid, comm, family, raddr, rport, lport, ret, listener, ts_ns, cpu, seq, sock,
        max(CASE WHEN event = 'tcp_state' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS born_ns
    FROM capture
    WHERE event = 'sys_accept' OR event = 'tcp_state' AND new_state = 'ESTABLISHED'
)
SELECT {{host}}pid, comm AS process, {{number "family" "family"}} AS family,
    CASE WHEN coalesce(ret, 0) >= 0 THEN raddr END AS address, CASE WHEN coalesce(ret, 0) >= 0 AND rport <> 0 THEN rport END AS port, lport,
    CASE WHEN ret >= 0 THEN ret END AS new_fd, CASE WHEN coalesce(ret, 0) >= 0 THEN {{div "ts_ns - born_ns" 1000}} END AS wait_us,
    ret, {{hex "listener"}} AS listener, ts_ns
FROM calls
WHERE event = 'sys_accept' AND family IN ('inet', 'inet6')
ORDER BY {{host}}ts_ns, cpu, seq
