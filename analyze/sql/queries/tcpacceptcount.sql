-- Connections that accept handed out, per process; calls that found none have no socket. The
-- function does not show calls that waited when the recording began; their system call does.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, pid, comm, dur_ns,
        max(CASE WHEN event = 'tcp_accept_fn' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS shown_ns,
        max(CASE WHEN event = 'tcp_state' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS born_ns
    FROM capture
    WHERE sock <> 0 AND (event IN ('tcp_accept_fn', 'sys_accept') OR event = 'tcp_state' AND new_state = 'ESTABLISHED')
)
SELECT {{host}}pid, comm, count(*) AS count
FROM calls
WHERE event = 'tcp_accept_fn' OR event = 'sys_accept' AND dur_ns IS NULL AND born_ns > coalesce(shown_ns, 0)
GROUP BY {{host}}pid, comm
ORDER BY {{host}}count(*), pid, comm
