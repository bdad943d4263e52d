-- From the start of an IP connect to the end of the first receive call on that socket
-- that returned data, per process.
WITH {{capture}},
{{template "lives.sql" events "sock_io"}}, steps AS (
    SELECT {{host}}event, comm, pid, ts_ns - coalesce(dur_ns, 0) AS start_ns,
        lead(event) OVER next AS then_event, lead(ts_ns) OVER next AS then_ns
    FROM lives
    WHERE event = 'sys_connect' AND family IN ('inet', 'inet6') AND ret IN (0, -115) OR event = 'sock_io' AND dir = 'recv' AND ret > 0
    WINDOW next AS (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq)
), samples AS (
    SELECT {{host}}comm, pid, {{div "then_ns - start_ns" 1000}} AS v
    FROM steps
    WHERE event = 'sys_connect' AND then_event = 'sock_io'
){{template "hist.sql" keys "comm" "pid"}}
